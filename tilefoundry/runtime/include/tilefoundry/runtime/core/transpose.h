// ops::transpose: a register fragment under a permutation of its axes, in any layout, through shared memory.
#pragma once

#include <tilefoundry/runtime/core/reduce.h>
#include <tilefoundry/runtime/core/tile_move.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Axis a of a result is axis P[a] of what is transposed, as in torch.permute.
template <int... P>
struct Permutation {
  static constexpr int rank = sizeof...(P);
  TILEFOUNDRY_HOST_DEVICE static constexpr int of(int axis) {
    constexpr int axes[] = {P...};
    return axes[axis];
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr bool valid() {
    bool seen[rank + 1] = {};
    for (int a = 0; a < rank; ++a) {
      if (of(a) < 0 || of(a) >= rank || seen[of(a)]) return false;
      seen[of(a)] = true;
    }
    return true;
  }
};

namespace detail {

/// Where the elements of a fragment lie in a workspace: in rows, the last axis of `GL` innermost, each row
/// longer by one word of 4 bytes, so that the elements of a column meet different banks.
template <class T, class GL>
struct StagedRows {
  static constexpr int rank = decltype(cute::rank(GL{}))::value;
  template <int A>
  static constexpr int extent = decltype(cute::size<A>(GL{}))::value;
  static constexpr int padding = sizeof(T) >= 4 ? 1 : 4 / static_cast<int>(sizeof(T));
  static constexpr int pitch = extent<rank - 1> + padding;
  static constexpr int count = decltype(cute::size(GL{}))::value / extent<rank - 1> * pitch;

  template <class At, int... A>
  TILEFOUNDRY_DEVICE static int offset(At const& at, cute::seq<A...>) {
    int row = 0;
    ((row = A == rank - 1 ? row : row * extent<A> + at[A]), ...);
    return row * pitch + at[rank - 1];
  }
};

template <class Perm, class Src, class Dst, int... A>
TILEFOUNDRY_HOST_DEVICE constexpr bool permuted(cute::seq<A...>) {
  return ((decltype(cute::size<A>(Dst{}))::value == decltype(cute::size<Perm::of(A)>(Src{}))::value) && ...);
}

template <class Rows, class Perm, class Pointer, class Dst, int... A>
TILEFOUNDRY_DEVICE void load_permuted(Pointer shared, Dst& dst, cute::seq<A...> axes) {
  auto const out = elements(dst);
  for_each_coordinate(
      dst,
      [&](int i, auto const& coord) {
        int const given[] = {static_cast<int>(cute::get<A>(coord))...};
        int at[Perm::rank];
        TILEFOUNDRY_UNROLL
        for (int a = 0; a < Perm::rank; ++a) at[Perm::of(a)] = given[a];
        out(i) = shared[Rows::offset(at, axes)];
      },
      axes);
}

template <class Rows, class Pointer, class Src, int... A>
TILEFOUNDRY_DEVICE void store_rows(Src const& src, Pointer shared, cute::seq<A...> axes) {
  auto const in = elements(src);
  for_each_coordinate(
      src,
      [&](int i, auto const& coord) {
        int const at[] = {static_cast<int>(cute::get<A>(coord))...};
        shared[Rows::offset(at, axes)] = in(i);
      },
      axes);
}

}  // namespace detail

namespace ops {

/// Bytes of shared memory that transpose(src, dst, ws) needs.
template <class Src>
TILEFOUNDRY_HOST_DEVICE constexpr int transpose_workspace_bytes() {
  using T = typename Src::value_type;
  return detail::StagedRows<T, typename Src::global_layout_type>::count * static_cast<int>(sizeof(T));
}

/// dst[i0, i1, ..] = src at the coordinate whose entry Perm[a] is i_a. All instances of the CTA call
/// together, and the workspace may be used again at once.
/// @param src, dst register fragments of any layouts over the CTA's threads
/// @param ws shared memory of transpose_workspace_bytes()
template <class Perm, class Src, class Dst, class Ws>
TILEFOUNDRY_DEVICE void transpose(Src const& src, Dst&& dst, Ws&& ws) {
  TILEFOUNDRY_OP("transpose");
  using D = detail::remove_cvref_t<Dst>;
  static_assert(is_shard_tensor<Src>::value && is_shard_tensor<D>::value,
                "ops::transpose: src and dst are register fragments");
  using T = typename Src::value_type;
  using Rows = detail::StagedRows<T, typename Src::global_layout_type>;
  static_assert(detail::is_register_v<Src> && detail::is_register_v<D>,
                "ops::transpose: src and dst are register fragments");
  static_assert(std::is_same<T, typename D::value_type>::value,
                "ops::transpose: source and destination types differ");
  static_assert(Perm::rank == Rows::rank && Perm::rank == detail::FragmentOf<D>::axes && Perm::valid(),
                "ops::transpose: the permutation names each axis of src once");
  static_assert(detail::permuted<Perm, typename Src::global_layout_type, typename D::global_layout_type>(
                    cute::make_seq<Perm::rank>{}),
                "ops::transpose: dst must have src's extents, permuted");
  static_assert(detail::workspace_bytes<detail::remove_cvref_t<Ws>>() >= transpose_workspace_bytes<Src>(),
                "ops::transpose: the workspace is smaller than transpose_workspace_bytes()");
  using Traits = detail::ShardTraits<typename Src::shard_layout_type>;
  using To = detail::ShardTraits<typename D::shard_layout_type>;
  static_assert(!detail::is_mesh_slice<typename Traits::mesh_type>::value &&
                    !detail::is_mesh_slice<typename To::mesh_type>::value,
                "ops::transpose: all instances of the CTA take part, and a slice has only some of them");
  auto const shared = detail::workspace_of<T>(ws);
  auto const axes = cute::make_seq<Perm::rank>{};
  if (detail::leads_replicas<Traits>(src.shard_layout.mesh.local_index(), cute::make_seq<Traits::axes>{})) {
    detail::store_rows<Rows>(src, shared, axes);
  }
  target::barrier();
  detail::load_permuted<Rows, Perm>(shared, dst, axes);
  target::barrier();
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
