// ops::copy_n: the first elements of an instance's part.
#pragma once

#include <tilefoundry/runtime/core/operands.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
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
  using From = detail::remove_cvref_t<decltype(detail::as_shard(src))>;
  using To = detail::remove_cvref_t<decltype(detail::as_shard(dst))>;
  using Out = typename To::value_type;
  static_assert(N >= 0 && N <= detail::FragmentOf<From>::count && N <= detail::FragmentOf<To>::count,
                "ops::copy_n: an instance holds fewer elements than are to be copied");
  constexpr bool same = std::is_same<std::remove_const_t<typename From::value_type>, Out>::value;
  constexpr int pack = same ? detail::common_pack<Src, From, D, To>() : 1;
  unary_impl::Unary<op::identity>{}.template first<N, pack>(dst, src);
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
