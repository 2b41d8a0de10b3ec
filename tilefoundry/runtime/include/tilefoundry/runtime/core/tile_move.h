// The loads and stores behind ops::tile_load and ops::tile_store.
#pragma once

#include <tilefoundry/runtime/core/tile_turned.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Bytes from which on copies are asynchronous. In checking mode all are: nobody may count on less.
#if defined(TILEFOUNDRY_CHECKED)
inline constexpr size_t kAsyncFrom = 1;
#else
inline constexpr size_t kAsyncFrom = 4;
#endif

template <class Slice, int N, class Tile, class Access, class Pointer>
TILEFOUNDRY_DEVICE void load_shared_packs(Access const& access, Pointer tile) {
  using T = typename Access::T;
  for_each_pack<Slice, N, Tile>(
      access,
      [&](auto const& place, int offset) {
        int const valid = access.valid(place, N);
        if constexpr (kAsyncFrom <= N * sizeof(T)) {
          auto const from = valid ? access.base() + place.offset : access.base();
          target::async_copy<N* static_cast<int>(sizeof(T))>(tile + offset, from,
                                                             valid * static_cast<int>(sizeof(T)));
        } else {
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) {
            tile[offset + j] = j < valid ? access.base()[place.offset + j * access.inner_stride()] : T(0);
          }
        }
      },
      cute::make_seq<Access::rank>{});
}

template <class Slice, class Box, class Tensor, class Movement, class Coord, class Dst>
TILEFOUNDRY_DEVICE void load_shared(TileMap<Box, Tensor, Movement> const& map, Coord const& coord, Dst& dst) {
  using Access = TileAccess<Box, Tensor, typename Dst::global_layout_type>;
  using T = typename Dst::value_type;
  static_assert(std::is_same<T, typename Access::T>::value,
                "ops::tile_load: source and destination types differ");
  Access const access(map.tensor, coord, cute::make_seq<Access::rank>{});
  constexpr int n = shared_pack<Access, Dst>(cute::make_seq<Access::rank>{});
  if constexpr (n > 1) {
    if (access.start[Access::inner] % n == 0) {
      load_shared_packs<Slice, n, Dst>(access, dst.data());
      return;
    }
  }
  constexpr auto axes = cute::make_seq<Access::rank>{};
  constexpr int turned = turned_axis<Access, Dst>(axes);
  if constexpr (turned >= 0) {
    if constexpr (places_beyond<turned, Access>(axes) <= kMostPlaces) {
      if (is_dense_beyond<turned>(access, axes)) {
        load_turned_dense<Slice, turned, Dst>(access, dst.data(), axes);
        return;
      }
    }
    load_turned<Slice, turned, Dst>(access, dst.data(), axes);
  } else {
    load_shared_packs<Slice, 1, Dst>(access, dst.data());
  }
}

template <class Slice, int N, class Tile, class Access, class Pointer>
TILEFOUNDRY_DEVICE void store_shared_packs(Access const& access, Pointer tile) {
  for_each_pack<Slice, N, Tile>(
      access,
      [&](auto const& place, int offset) {
        int const valid = access.valid(place, N);
        if (N > 1 && valid == N) {
          store_global_pack<N>(access.base() + place.offset, load_pack<N>(tile + offset));
        } else {
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) {
            if (j < valid) access.base()[place.offset + j * access.inner_stride()] = tile[offset + j];
          }
        }
      },
      cute::make_seq<Access::rank>{});
}

template <class Slice, class Box, class Tensor, class Movement, class Coord, class Src>
TILEFOUNDRY_DEVICE void store_shared(TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                     Src const& src) {
  using Access = TileAccess<Box, Tensor, typename Src::global_layout_type>;
  static_assert(std::is_same<typename Src::value_type, typename Access::T>::value,
                "ops::tile_store: source and destination types differ");
  Access const access(map.tensor, coord, cute::make_seq<Access::rank>{});
  constexpr int n = shared_pack<Access, Src>(cute::make_seq<Access::rank>{});
  if constexpr (n > 1) {
    if (access.start[Access::inner] % n == 0) {
      store_shared_packs<Slice, n, Src>(access, src.data());
      return;
    }
  }
  store_shared_packs<Slice, 1, Src>(access, src.data());
}

/// Elements of a register fragment that are neighbours in global memory and in a run of its walk.
template <class Access, class Fragment>
TILEFOUNDRY_HOST_DEVICE constexpr int fragment_pack() {
  constexpr int axis = Access::tile_axis(Access::inner);
  if constexpr (axis < 0) {
    return 1;
  } else {
    constexpr int run = contiguous_run<decltype(Fragment::template steps<axis>())>();
    return smaller(Access::aligned, run & -run);
  }
}

template <class Access, class Fragment, int B, class Coords>
TILEFOUNDRY_DEVICE int fragment_origin(Coords const& coords) {
  constexpr int axis = Access::tile_axis(B);
  if constexpr (axis < 0) {
    return 0;
  } else {
    return static_cast<int>(Fragment::template origin<axis>(coords));
  }
}

template <class Access, class Fragment, int B>
TILEFOUNDRY_DEVICE int fragment_step(int i) {
  constexpr int axis = Access::tile_axis(B);
  if constexpr (axis < 0) {
    return 0;
  } else {
    return decltype(Fragment::template steps<axis>()){}(i);
  }
}

/// f(place, first element) for each group of N neighbours that the instance holds.
template <int N, class Access, class Frag, class Coords, class F, int... B>
TILEFOUNDRY_DEVICE void for_each_group(Access const& access, Coords const& coords, F const& f,
                                       cute::seq<B...> axes) {
  int const origin[] = {fragment_origin<Access, Frag, B>(coords)...};
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < Frag::count; i += N) {
    int const index[] = {(origin[B] + fragment_step<Access, Frag, B>(i))...};
    f(access.place(index, axes), i);
  }
}

template <int N, bool Whole, class Access, class Dst>
TILEFOUNDRY_DEVICE void load_fragment_groups(Access const& access, Dst& dst) {
  using T = typename Dst::value_type;
  auto const out = elements(dst);
  for_each_group<N, Access, FragmentOf<Dst>>(
      access, dst.shard_layout.mesh.local_index(),
      [&](auto const& place, int i) {
        int const valid = Whole ? N : access.valid(place, N);
        if (N > 1 && valid == N) {
          Pack<T, N> const pack = load_pack<N>(access.base() + place.offset);
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) out(i + j) = pack.value[j];
        } else {
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) {
            out(i + j) = j < valid ? access.base()[place.offset + j * access.inner_stride()] : T(0);
          }
        }
      },
      cute::make_seq<Access::rank>{});
}

template <class Box, class Tensor, class Movement, class Coord, class Dst>
TILEFOUNDRY_DEVICE void load_fragment(TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                      Dst& dst) {
  using Access = TileAccess<Box, Tensor, typename Dst::global_layout_type>;
  static_assert(FragmentOf<Dst>::valid,
                "ops::tile_load: the fragment's modes must factor the logical extents in order");
  static_assert(std::is_same<typename Dst::value_type, typename Access::T>::value,
                "ops::tile_load: source and destination types differ");
  Access const access(map.tensor, coord, cute::make_seq<Access::rank>{});
  constexpr int n = fragment_pack<Access, FragmentOf<Dst>>();
  if constexpr (n > 1) {
    if (access.start[Access::inner] % n == 0) {
      if (access.whole()) {
        load_fragment_groups<n, true>(access, dst);
      } else {
        load_fragment_groups<n, false>(access, dst);
      }
      return;
    }
  }
  load_fragment_groups<1, false>(access, dst);
}

/// Whether the instance writes for its replicas along the thread-level Broadcast axes.
template <class Traits, class Coords, int... M>
TILEFOUNDRY_DEVICE bool leads_replicas(Coords const& coords, cute::seq<M...>) {
  using Mesh = typename Traits::mesh_type;
  return ((Traits::split(M) >= 0 || Mesh::template scope<M>() == TopologyScope::cta ||
           static_cast<int>(cute::get<M>(coords)) == 0) &&
          ... && true);
}

/// @tparam WholeRows the box leaves no row on the side: a group exists where its row does. That question is
///   one for all groups of a row, where a second path for boxes inside the tensor would cost registers.
template <int N, bool WholeRows, class Access, class Src>
TILEFOUNDRY_DEVICE void store_fragment_groups(Access const& access, Src const& src) {
  using T = typename Src::value_type;
  auto const in = elements(src);
  for_each_group<N, Access, FragmentOf<Src>>(
      access, src.shard_layout.mesh.local_index(),
      [&](auto const& place, int i) {
        int const valid = !WholeRows ? access.valid(place, N) : place.row_valid ? N : 0;
        if (N > 1 && valid == N) {
          Pack<T, N> pack;
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) pack.value[j] = in(i + j);
          store_global_pack<N>(access.base() + place.offset, pack);
        } else if (!WholeRows) {
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < N; ++j) {
            if (j < valid) access.base()[place.offset + j * access.inner_stride()] = in(i + j);
          }
        }
      },
      cute::make_seq<Access::rank>{});
}

template <class Box, class Tensor, class Movement, class Coord, class Src>
TILEFOUNDRY_DEVICE void store_fragment(TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                       Src const& src) {
  using Access = TileAccess<Box, Tensor, typename Src::global_layout_type>;
  using Traits = ShardTraits<typename Src::shard_layout_type>;
  static_assert(FragmentOf<Src>::valid,
                "ops::tile_store: the fragment's modes must factor the logical extents in order");
  static_assert(std::is_same<typename Src::value_type, typename Access::T>::value,
                "ops::tile_store: source and destination types differ");
  if (!leads_replicas<Traits>(src.shard_layout.mesh.local_index(), cute::make_seq<Traits::axes>{})) return;
  Access const access(map.tensor, coord, cute::make_seq<Access::rank>{});
  constexpr int n = fragment_pack<Access, FragmentOf<Src>>();
  if constexpr (n > 1) {
    if (access.start[Access::inner] % n == 0) {
      if (access.whole_rows()) {
        store_fragment_groups<n, true>(access, src);
      } else {
        store_fragment_groups<n, false>(access, src);
      }
      return;
    }
  }
  store_fragment_groups<1, false>(access, src);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
