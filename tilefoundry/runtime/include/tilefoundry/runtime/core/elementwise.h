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
  static_assert(std::is_same<detail::element_t<Condition>, bool>::value,
                "ops::where: the condition is a bool tensor or scalar; compare first (ops::binary, op::ne)");
  using Out = typename detail::remove_cvref_t<Dst>::value_type;
  unary_impl::Unary<op::select<Out>>{}(dst, condition, a, b);
}

/// dst = min(max(src, low), high); where one of the three is NaN, so is the result, as in torch.
template <class Src, class Low, class High, class Dst>
TILEFOUNDRY_DEVICE void clamp(Src const& src, Low low, High high, Dst&& dst) {
  TILEFOUNDRY_OP("clamp");
  detail::check_operand<Dst, Src>();
  using Compute = detail::compute_t<detail::element_t<Src>>;
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
  decltype(auto) shard = detail::as_shard(dst);
  using Tensor = detail::remove_cvref_t<decltype(shard)>;
  using F = detail::FragmentOf<Tensor>;
  static_assert(F::valid,
                "ops::iota: the modes of the shard layout must factor the logical extents in order");
  static_assert(Axis >= 0 && Axis < F::axes, "ops::iota: dst has no such axis; they are counted from 0");
  using Compute = detail::compute_t<typename Tensor::value_type>;
  int const origin = F::template origin<Axis>(shard.shard_layout.mesh.local_index());
  unary_impl::Unary<op::identity>{}(
      dst, detail::Progression<F, Axis, Compute>{convert<Compute>(start), convert<Compute>(step), origin});
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
