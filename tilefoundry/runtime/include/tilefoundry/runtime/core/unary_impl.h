// unary_impl::Unary: the loop of all elementwise ops over an instance's elements. Operands are ShardTensors
// or CuTe tensors of equal local shape, or scalars.
#pragma once

#include <tilefoundry/runtime/core/elements.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// How many neighbours an access to an operand in memory may move, as far as its type proves; 1 for others.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr int operand_pack() {
  if constexpr (!is_tensor_like_v<remove_cvref_t<T>>) {
    return 1;
  } else {
    using Shard = remove_cvref_t<decltype(as_shard(std::declval<T&>()))>;
    if constexpr (is_register_v<Shard>) {
      return 1;
    } else {
      constexpr int most = elements_of<typename Shard::value_type>(16),
                    proven = pack_size<Shard>(unknown_strides<remove_cvref_t<T>>());
      return proven < most ? proven : most;
    }
  }
}

template <class... T>
TILEFOUNDRY_HOST_DEVICE constexpr int widest_pack() {
  int widest = 1;
  ((widest = operand_pack<T>() > widest ? operand_pack<T>() : widest), ...);
  return widest;
}

/// Elements i to i + N - 1 of an operand, in accesses that are as wide as its type proves.
template <int N, class T, class Elements>
TILEFOUNDRY_DEVICE auto load_operand(Elements const& in, int i) {
  using Element = std::remove_const_t<typename Elements::value_type>;
  constexpr int own = operand_pack<T>(), piece = own < N ? own : N;
  Pack<Element, N> pack;
  TILEFOUNDRY_UNROLL
  for (int k = 0; k < N; k += piece) {
    if constexpr (piece == 1) {
      pack.value[k] = in(i + k);
    } else {
      auto const part = load_pack<piece>(&in(i + k));
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < piece; ++j) pack.value[k + j] = part.value[j];
    }
  }
  return pack;
}

template <int N, class T, class Elements, class Element>
TILEFOUNDRY_DEVICE void store_operand(Elements const& out, int i, Pack<Element, N> const& pack) {
  constexpr int own = operand_pack<T>(), piece = own < N ? own : N;
  TILEFOUNDRY_UNROLL
  for (int k = 0; k < N; k += piece) {
    if constexpr (piece == 1) {
      out(i + k) = pack.value[k];
    } else {
      Pack<Element, piece> part;
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < piece; ++j) part.value[j] = pack.value[k + j];
      store_pack<piece>(&out(i + k), part);
    }
  }
}

/// Whether neighbours of a register fragment share a register of the GPU: two elements of 16 bits. Written
/// one by one, they would be held apart wherever a loop comes between, in twice the registers.
template <class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr bool shares_registers() {
#if defined(TILEFOUNDRY_TARGET_CUDA)
  using Tensor = remove_cvref_t<Dst>;
  if constexpr (is_shard_tensor<Tensor>::value) {
    if constexpr (is_small_float_v<typename Tensor::value_type> && sizeof(typename Tensor::value_type) == 2 &&
                  is_owning<typename Tensor::engine_type>::value) {
      return PackPlan<typename Tensor::shard_layout_type>::elements(1) >= 2;
    }
  }
#endif
  return false;
}

/// Both halves of a register at once.
template <class Element>
TILEFOUNDRY_DEVICE void store_register(Element* both, Element low, Element high) {
  uint16_t half[2];
  memcpy(half, &low, 2);
  memcpy(half + 1, &high, 2);
  uint32_t const word = half[0] | static_cast<uint32_t>(half[1]) << 16;
  memcpy(both, &word, 4);
}

/// out(i) = f(in(i)...) for the first `Count` elements, `Pack_` at once where there are as many.
/// @tparam Dst, Src the tensors or scalars of which out and in are the elements
template <int Count, int Pack_, class Dst, class... Src, class F, class Out, class... In>
TILEFOUNDRY_DEVICE void for_elements(F const& f, Out const& out, In const&... in) {
  using Element = typename Out::value_type;
  constexpr int packed = Pack_ == 1 ? 0 : Count / Pack_ * Pack_;
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < packed; i += Pack_) {
    auto const results = [&](auto const&... operand) {
      Pack<Element, Pack_> pack;
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < Pack_; ++j) pack.value[j] = convert<Element>(f(operand.value[j]...));
      return pack;
    };
    store_operand<Pack_, Dst>(out, i, results(load_operand<Pack_, Src>(in, i)...));
  }
  constexpr int paired = shares_registers<Dst>() ? packed + (Count - packed) / 2 * 2 : packed;
  if constexpr (paired > packed) {
    TILEFOUNDRY_UNROLL
    for (int i = packed; i < paired; i += 2) {
      store_register(&out(i), convert<Element>(f(in(i)...)), convert<Element>(f(in(i + 1)...)));
    }
  }
  TILEFOUNDRY_UNROLL
  for (int i = paired; i < Count; ++i) out(i) = convert<Element>(f(in(i)...));
}

/// A host's compiler makes vectors of plain loops itself, also over instances.
#if defined(TILEFOUNDRY_TARGET_CUDA)
inline constexpr bool kMovesPacks = true;
#else
inline constexpr bool kMovesPacks = false;
#endif

}  // namespace detail

namespace op {

/// min(max(x, low), high); where one of the three is NaN, so is the result.
template <class T>
struct clamp {
  T low, high;
  TILEFOUNDRY_DEVICE T operator()(T x) const {
    T const raised = x < low || low != low ? low : x;
    return high < raised || high != high ? high : raised;
  }
};

/// condition ? a : b in the type of the result.
template <class T>
struct select {
  template <class A, class B>
  TILEFOUNDRY_DEVICE T operator()(bool condition, A a, B b) const {
    return condition ? convert<T>(a) : convert<T>(b);
  }
};

}  // namespace op

namespace unary_impl {

/// Whether an op takes elements as they are; others take them in the compute type of the operands.
template <class Op>
struct takes_elements : cute::false_type {};
template <>
struct takes_elements<op::identity> : cute::true_type {};
template <class T>
struct takes_elements<op::select<T>> : cute::true_type {};

/// dst(i) = op(src(i)...), element by element, whatever the functor: each op of the family is this with its
/// tag.
template <class Op>
struct Unary {
  Op op;

  template <class Dst, class... Src>
  TILEFOUNDRY_DEVICE void operator()(Dst& dst, Src const&... src) const {
    using namespace detail;
    static_assert(is_tensor_like_v<remove_cvref_t<Dst>>, "ops: the destination must be a tensor");
    static_assert(!is_shard_tensor<remove_cvref_t<Dst>>::value || !has_no_owner<remove_cvref_t<Dst>>(),
                  "ops: a whole shared tile has no owner per element; take a view with a fragment layout");
    static_assert(check_written<Dst>());
    (check_operand<Dst, Src>(), ...);
    constexpr int count = decltype(cute::size(shard_layout_local_shape(as_shard(dst).shard_layout)))::value;
    constexpr int pack = kMovesPacks ? widest_pack<Dst, Src...>() : 1;
    first<count, pack>(dst, src...);
  }

  /// The same for the first `Count` elements alone, `Pack` at once.
  template <int Count, int Pack, class Dst, class... Src>
  TILEFOUNDRY_DEVICE void first(Dst& dst, Src const&... src) const {
    using namespace detail;
    if constexpr (takes_elements<Op>::value) {
      for_elements<Count, Pack, Dst, Src...>(op, elements(dst), elements(src)...);
    } else {
      using Compute = compute_t<common_t<Src...>>;
      for_elements<Count, Pack, Dst, Src...>([op = op](auto... x) { return op(convert<Compute>(x)...); },
                                             elements(dst), elements(src)...);
    }
  }
};

}  // namespace unary_impl
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
