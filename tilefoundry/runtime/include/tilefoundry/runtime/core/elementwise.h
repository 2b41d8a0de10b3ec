// ops: unary, cast, clamp, binary, where, fill, iota. Operands are ShardTensors or CuTe tensors of equal
// local shape, or scalars; broadcasting is a view with stride-0 modes. A result may be written over an
// operand of the same layout.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>
#include <tilefoundry/runtime/core/functors.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <class T>
inline constexpr bool is_tensor_like_v = is_shard_tensor<T>::value || cute::is_tensor<T>::value;

/// What the elementwise loop reads: element i of an instance's part in row-major order, or the same scalar.
template <class Pointer, class Offsets>
struct LocalElements {
  using value_type = cute::iter_value_t<Pointer>;
  Pointer base;
  TILEFOUNDRY_HOST_DEVICE decltype(auto) operator()(int i) const { return base[Offsets{}(i)]; }
};

template <class Pointer, class Offsets>
struct LocalElementsRuntime {
  using value_type = cute::iter_value_t<Pointer>;
  Pointer base;
  Offsets offsets;
  TILEFOUNDRY_HOST_DEVICE decltype(auto) operator()(int i) const { return base[offsets(i)]; }
};

template <class T>
struct ScalarElement {
  using value_type = T;
  T value;
  TILEFOUNDRY_HOST_DEVICE T operator()(int) const { return value; }
};

template <class T>
TILEFOUNDRY_HOST_DEVICE auto elements(T& t) {
  using Tensor = remove_cvref_t<T>;
  if constexpr (is_tensor_like_v<Tensor>) {
    decltype(auto) shard = as_shard(t);
    auto part = local(shard);
    auto offsets = row_major_walk(part.shape(), part.stride());
    using Pointer = remove_cvref_t<decltype(part.data())>;
    using Offsets = decltype(offsets);
    if constexpr (cute::is_static<Offsets>::value) {
      return LocalElements<Pointer, Offsets>{part.data()};
    } else {
      return LocalElementsRuntime<Pointer, Offsets>{part.data(), offsets};
    }
  } else {
    return ScalarElement<Tensor>{t};
  }
}

/// Extents other than 1, in order: broadcasting views may place those of 1 differently.
struct DropOnes {
  template <class Extent>
  TILEFOUNDRY_HOST_DEVICE constexpr auto operator()(Extent extent) const {
    if constexpr (cute::is_constant<1, Extent>::value) {
      return cute::tuple<>{};
    } else {
      return cute::make_tuple(extent);
    }
  }
};

template <class T>
struct LocalShapeOf {
  using Shard = remove_cvref_t<decltype(as_shard(std::declval<T&>()))>;
  using type = decltype(cute::filter_tuple(
      cute::flatten(shard_layout_local_shape(std::declval<typename Shard::shard_layout_type const&>())),
      DropOnes{}));
};

template <class Dst, class Src>
TILEFOUNDRY_HOST_DEVICE constexpr void check_operand() {
  using Source = remove_cvref_t<Src>;
  if constexpr (is_tensor_like_v<Source>) {
    static_assert(std::is_same<typename LocalShapeOf<remove_cvref_t<Dst>>::type,
                               typename LocalShapeOf<Source>::type>::value,
                  "ops: operands of an elementwise op must have equal local shapes; broadcast with a view");
  }
}

/// A whole tile in memory that several instances would write at once.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr bool has_no_owner() {
  using Shard = remove_cvref_t<decltype(as_shard(std::declval<T&>()))>;
  return is_whole<Shard>::value && !cute::is_rmem<typename Shard::engine_type::iterator>::value &&
         static_program_dim<kThreadLevel<T>>() != 1;
}

/// dst(i) = f(src(i)...), element by element.
template <class Dst, class F, class... Src>
TILEFOUNDRY_DEVICE void elementwise(Dst& dst, F const& f, Src const&... src) {
  static_assert(is_tensor_like_v<remove_cvref_t<Dst>>, "ops: the destination must be a tensor");
  static_assert(!has_no_owner<remove_cvref_t<Dst>>(),
                "ops: a whole shared tile has no owner per element; take a view with a fragment layout");
  (check_operand<Dst, Src>(), ...);
  auto out = elements(dst);
  using Out = typename decltype(out)::value_type;
  constexpr int count = decltype(cute::size(shard_layout_local_shape(as_shard(dst).shard_layout)))::value;
  auto loop = [&](auto const&... in) {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < count; ++i) out(i) = convert<Out>(f(in(i)...));
  };
  loop(elements(src)...);
}

/// The type in which an op on these operands is computed: that of its tensors, which agree; scalars follow.
template <class... Src>
struct Common {
  using type = void;
};
template <class First, class... Rest>
struct Common<First, Rest...> {
  using rest = typename Common<Rest...>::type;
  template <class T, bool Tensor = is_tensor_like_v<T>>
  struct Own {
    using type = void;
  };
  template <class T>
  struct Own<T, true> {
    using type = typename T::value_type;
  };
  using own = typename Own<First>::type;
  static_assert(std::is_void<own>::value || std::is_void<rest>::value || std::is_same<own, rest>::value,
                "ops: tensor operands must have one element type; cast first");
  using type = std::conditional_t<std::is_void<own>::value, rest, own>;
};
template <class... Src>
using common_t = typename Common<remove_cvref_t<Src>...>::type;

}  // namespace detail

namespace ops {

/// dst = op(src), computed in the element's compute type.
template <class Op, class Src, class Dst>
TILEFOUNDRY_DEVICE void unary(Op op, Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("unary");
  detail::elementwise(dst, [op](auto x) { return op(detail::widen(x)); }, src);
}

/// dst = src in dst's element type (see convert()).
template <class Src, class Dst>
TILEFOUNDRY_DEVICE void cast(Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("cast");
  detail::elementwise(dst, [](auto x) { return x; }, src);
}

/// dst = op(a, b). Tensor operands have one element type; a scalar is converted to its compute type.
template <class Op, class A, class B, class Dst>
TILEFOUNDRY_DEVICE void binary(Op op, A const& a, B const& b, Dst&& dst) {
  TILEFOUNDRY_OP("binary");
  using Common = detail::common_t<A, B>;
  static_assert(!std::is_void<Common>::value, "ops::binary: one operand must be a tensor");
  using Compute = detail::compute_t<Common>;
  detail::elementwise(
      dst, [op](auto x, auto y) { return op(convert<Compute>(x), convert<Compute>(y)); }, a, b);
}

/// dst = condition ? a : b; the condition is a bool tensor, a and b tensors or scalars.
template <class Condition, class A, class B, class Dst>
TILEFOUNDRY_DEVICE void where(Condition const& condition, A const& a, B const& b, Dst&& dst) {
  TILEFOUNDRY_OP("where");
  using Out = typename detail::remove_cvref_t<Dst>::value_type;
  detail::elementwise(
      dst, [](bool c, auto x, auto y) { return c ? convert<Out>(x) : convert<Out>(y); }, condition, a, b);
}

/// dst = min(max(src, low), high); NaN stays NaN.
template <class Src, class Low, class High, class Dst>
TILEFOUNDRY_DEVICE void clamp(Src const& src, Low low, High high, Dst&& dst) {
  TILEFOUNDRY_OP("clamp");
  using Compute = detail::compute_t<typename Src::value_type>;
  Compute const lo = convert<Compute>(low), hi = convert<Compute>(high);
  detail::elementwise(
      dst,
      [lo, hi](auto x) {
        Compute const v = detail::widen(x);
        Compute const raised = v < lo ? lo : v;
        return hi < raised ? hi : raised;
      },
      src);
}

/// Every element of dst becomes a scalar.
template <class Dst, class Value>
TILEFOUNDRY_DEVICE void fill(Dst&& dst, Value value) {
  TILEFOUNDRY_OP("fill");
  using Out = typename detail::remove_cvref_t<Dst>::value_type;
  detail::elementwise(dst, [](Out v) { return v; }, convert<Out>(value));
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
