// ops::copy_async: each instance starts to copy its part of a global tensor into shared memory, and waits for
// it later.
//
//   ops::copy_async(mine_of_x, mine_of_tile);
//   ops::cp_async_commit();
//   ...
//   ops::cp_async_wait<0>();
//   ops::sync<SyncKind::cta>();  // where others read it
#pragma once

#include <tilefoundry/runtime/core/operands.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <class T>
inline constexpr bool is_global_v = cute::is_gmem<typename T::engine_type::iterator>::value;

/// Whether threads of a CTA hold the same part.
template <class Traits, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool has_replicas(cute::seq<M...>) {
  using Mesh = typename Traits::mesh_type;
  return ((Traits::split(M) < 0 && Mesh::template extent<M> != 1 &&
           Mesh::template scope<M>() == TopologyScope::thread) ||
          ... || false);
}

/// Starts to copy in packs of N elements, those of at least 4 bytes without a detour through registers. Of
/// replicas each stores the same values, which asynchronous copies must not: nothing orders them.
template <int N, class Src, class Dst>
TILEFOUNDRY_DEVICE void start_packs(Src const& src, Dst& dst) {
  using T = typename Dst::value_type;
  constexpr int bytes = N * static_cast<int>(sizeof(T));
#if defined(TILEFOUNDRY_CHECKED)
  constexpr bool starts = true;  // whatever a GPU may do at once, a program must not count on
#else
  using Traits = ShardTraits<typename Dst::shard_layout_type>;
  constexpr bool starts = bytes >= 4 && !has_replicas<Traits>(cute::make_seq<Traits::axes>{});
#endif
  auto const in = elements(src);
  auto const out = elements(dst);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < FragmentOf<Dst>::count; i += N) {
    if constexpr (starts) {
      target::async_copy<bytes>(&out(i), &in(i), bytes);
    } else {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < N; ++j) out(i + j) = in(i + j);
    }
  }
}

}  // namespace detail

namespace ops {

/// dst = src of the same element type, without waiting. From global to shared memory the copy is in flight
/// until the instance has waited for its group (see below): until then it reads nothing of dst, and nobody
/// writes src or dst. Other instances see it after a barrier behind that. In other directions it is
/// tilefoundry::copy, over when the call returns.
///
/// On sm_80 and later cp.async moves 16, 8 or 4 bytes at once: the widest of which the types of both views
/// prove that they are contiguous and aligned. Proven is what global_tensor knows of a Vector argument and
/// shared_tensor of a tile, under static strides; a pointer that was moved is aligned to its elements only.
/// Elements that stay below 4 bytes, parts that several threads hold (Broadcast), and all elements on older
/// GPUs, are loaded and stored.
/// @param src, dst ShardTensors of equal local shape, of which the instance's own parts are meant; or CuTe
///   tensors, which are such parts already, or have the full shape of a ShardTensor on the other side
template <class Src, class Dst>
TILEFOUNDRY_DEVICE void copy_async(Src const& src, Dst&& dst) {
  TILEFOUNDRY_OP("copy_async");
  using D = detail::remove_cvref_t<Dst>;
  constexpr bool tensors = detail::is_tensor_like_v<Src> && detail::is_tensor_like_v<D>;
  static_assert(
      tensors,
      "ops::copy_async: a raw pointer has no extents and no residency; pass ShardTensors or CuTe tensors");
  if constexpr (tensors) {
    static_assert(std::is_same<std::remove_const_t<typename Src::value_type>, typename D::value_type>::value,
                  "ops::copy_async: source and destination types differ; convert with tilefoundry::copy");
    static_assert(
        !is_shard_tensor<D>::value || !detail::has_no_owner<D>(),
        "ops::copy_async: a whole shared tile has no owner per element; take a view with a fragment "
        "layout");
    decltype(auto) from = detail::part_of(src, dst);
    decltype(auto) to = detail::part_of(dst, src);
    using From = detail::remove_cvref_t<decltype(from)>;
    using To = detail::remove_cvref_t<decltype(to)>;
    detail::check_operand<To, From>();
    if constexpr (detail::is_global_v<From> && detail::is_shared_v<To>) {
      detail::start_packs<detail::common_pack<Src, From, D, To>()>(from, to);
    } else {
      detail::copy_local(from, to);
    }
  }
}

/// The instance's copies since its last commit are one group, perhaps an empty one.
TILEFOUNDRY_DEVICE void cp_async_commit() { target::async_commit(); }

/// Returns when all but the instance's newest `Pending` groups have landed.
template <int Pending>
TILEFOUNDRY_DEVICE void cp_async_wait() {
  static_assert(Pending >= 0, "ops::cp_async_wait: the number of groups in flight must not be negative");
  target::async_wait < Pending<0 ? 0 : Pending>();
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
