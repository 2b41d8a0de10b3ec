// ops::copy_n: the first elements of an instance's part.
#pragma once

#include <tilefoundry/runtime/core/operands.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// N neighbours from element i on, at once where they lie in memory.
template <int N, class Tensor, class Elements>
TILEFOUNDRY_DEVICE auto load_elements(Elements const& in, int i) {
  using T = std::remove_const_t<typename Tensor::value_type>;
  if constexpr (N > 1 && !is_register_v<Tensor>) {
    return load_pack<N>(&in(i));
  } else {
    Pack<T, N> pack;
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < N; ++j) pack.value[j] = in(i + j);
    return pack;
  }
}
template <int N, class Tensor, class Elements, class T>
TILEFOUNDRY_DEVICE void store_elements(Elements const& out, int i, Pack<T, N> const& pack) {
  if constexpr (N > 1 && !is_register_v<Tensor>) {
    store_pack<N>(&out(i), pack);
  } else {
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < N; ++j) out(i + j) = pack.value[j];
  }
}

}  // namespace detail

namespace ops {

/// The first `N` elements of src, in row-major order of what the instance holds, become the first `N` of dst,
/// in dst's element type (see convert()). Views in memory move in packs of up to 16 bytes where their types
/// prove that these are aligned, as for ops::copy_async.
/// @param src, dst ShardTensors or CuTe tensors with at least `N` elements in each instance
template <int N, class Src, class Dst>
TILEFOUNDRY_DEVICE void copy_n(Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("copy_n");
  using D = detail::remove_cvref_t<Dst>;
  static_assert(
      detail::is_tensor_like_v<Src> && detail::is_tensor_like_v<D>,
      "ops::copy_n: a raw pointer has no extents and no residency; pass ShardTensors or CuTe tensors");
  static_assert(
      !is_shard_tensor<D>::value || !detail::has_no_owner<D>(),
      "ops::copy_n: a whole shared tile has no owner per element; take a view with a fragment layout");
  decltype(auto) from = detail::as_shard(src);
  decltype(auto) to = detail::as_shard(dst);
  using From = detail::remove_cvref_t<decltype(from)>;
  using To = detail::remove_cvref_t<decltype(to)>;
  using Out = typename To::value_type;
  static_assert(N >= 0 && N <= detail::FragmentOf<From>::count && N <= detail::FragmentOf<To>::count,
                "ops::copy_n: an instance holds fewer elements than are to be copied");
  constexpr bool same = std::is_same<std::remove_const_t<typename From::value_type>, Out>::value;
  constexpr int pack = same ? detail::common_pack<Src, From, D, To>() : 1;
  constexpr int packed = N / pack * pack;
  auto const in = detail::elements(from);
  auto const out = detail::elements(to);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < packed; i += pack) {
    if constexpr (same) {
      detail::store_elements<pack, To>(out, i, detail::load_elements<pack, From>(in, i));
    } else {
      out(i) = convert<Out>(in(i));
    }
  }
  TILEFOUNDRY_UNROLL
  for (int i = packed; i < N; ++i) out(i) = convert<Out>(in(i));
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
