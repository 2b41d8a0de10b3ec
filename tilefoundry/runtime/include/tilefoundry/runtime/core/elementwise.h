// ops: unary, cast, clamp, binary, where, fill, iota, each unary_impl::Unary with its functor. Operands are
// ShardTensors or CuTe tensors of equal local shape, or scalars; broadcasting is a view with stride-0 modes.
// A result may be written over an operand of the same layout.
#pragma once

#include <tilefoundry/runtime/core/unary_impl.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace ops {

/// dst = op(src), computed in the element's compute type.
template <class Op, class Src, class Dst>
TILEFOUNDRY_DEVICE void unary(Op op, Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("unary");
  unary_impl::Unary<Op>{op}(dst, src);
}

/// dst = src in dst's element type (see convert()).
template <class Src, class Dst>
TILEFOUNDRY_DEVICE void cast(Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("cast");
  unary_impl::Unary<op::identity>{}(dst, src);
}

/// dst = op(a, b). Tensor operands have one element type; a scalar is converted to its compute type.
template <class Op, class A, class B, class Dst>
TILEFOUNDRY_DEVICE void binary(Op op, A const& a, B const& b, Dst&& dst) {
  TILEFOUNDRY_OP("binary");
  static_assert(!std::is_void<detail::common_t<A, B>>::value, "ops::binary: one operand must be a tensor");
  unary_impl::Unary<Op>{op}(dst, a, b);
}

/// dst = condition ? a : b; the condition is a bool tensor, a and b tensors or scalars.
template <class Condition, class A, class B, class Dst>
TILEFOUNDRY_DEVICE void where(Condition const& condition, A const& a, B const& b, Dst&& dst) {
  TILEFOUNDRY_OP("where");
  using Out = typename detail::remove_cvref_t<Dst>::value_type;
  unary_impl::Unary<op::select<Out>>{}(dst, condition, a, b);
}

/// dst = min(max(src, low), high); NaN stays NaN.
template <class Src, class Low, class High, class Dst>
TILEFOUNDRY_DEVICE void clamp(Src const& src, Low low, High high, Dst&& dst) {
  TILEFOUNDRY_OP("clamp");
  using Compute = detail::compute_t<typename Src::value_type>;
  unary_impl::Unary<op::clamp<Compute>>{{convert<Compute>(low), convert<Compute>(high)}}(dst, src);
}

/// Every element of dst becomes a scalar.
template <class Dst, class Value>
TILEFOUNDRY_DEVICE void fill(Dst&& dst, Value value) {
  TILEFOUNDRY_OP("fill");
  using Out = typename detail::remove_cvref_t<Dst>::value_type;
  unary_impl::Unary<op::identity>{}(dst, convert<Out>(value));
}

/// dst = start + step * (logical coordinate along `Axis`).
template <int Axis, class Dst, class Start, class Step>
TILEFOUNDRY_DEVICE void iota(Dst&& dst, cute::C<Axis>, Start start, Step step) {
  TILEFOUNDRY_OP("iota");
  using Tensor = detail::remove_cvref_t<Dst>;
  using Out = detail::compute_t<typename Tensor::value_type>;
  using F = detail::FragmentOf<Tensor>;
  static_assert(F::valid,
                "ops::iota: the modes of the shard layout must factor the logical extents in order");
  auto out = detail::elements(dst);
  int const origin = F::template origin<Axis>(dst.shard_layout.mesh.local_index());
  Out const first = convert<Out>(start), each = convert<Out>(step);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < F::count; ++i) {
    int const coordinate = origin + decltype(F::template steps<Axis>()){}(i);
    out(i) =
        convert<typename Tensor::value_type>(op::add{}(first, op::mul{}(each, convert<Out>(coordinate))));
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
