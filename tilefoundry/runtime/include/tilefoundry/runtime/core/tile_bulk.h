// The bulk tier of ops::tile_load and ops::tile_store: which tiles bulk tensor copies can move, and the
// copies of one tile.
#pragma once

#include <tilefoundry/runtime/core/bulk_box.h>
#include <tilefoundry/runtime/core/pipeline.h>
#include <tilefoundry/runtime/core/tile_packs.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// A movement without a tensor map: instances copy.
struct ByInstances {
  static constexpr int shares = 1;
};

/// Bulk copies of rows of 16 * 2^Bits bytes (cute::Swizzle<Bits, 4, 3>; any rows for 0) by the host's map. In
/// a cluster, each of `Shares` CTAs brings a part of the box to all.
template <int Bits, int Shares>
struct InBulk {
  static constexpr int bits = Bits;
  static constexpr int shares = Shares;
  TensorMap const* map;
};

/// The copies of a box to or from a whole shared tile.
template <class Access, class Tile, class Movement>
struct BulkCopies {
  using T = typename Access::T;
  static constexpr int rank = Access::rank;

  template <int... B>
  TILEFOUNDRY_HOST_DEVICE static constexpr BulkBox make(cute::seq<B...>) {
    constexpr int box[] = {Access::template box<B>...};
    return bulk_box(rank, box, sizeof(T), Movement::bits, Movement::shares);
  }
  static constexpr BulkBox copy = make(cute::make_seq<rank>{});
  static constexpr int copy_elements = [] {
    int n = 1;
    for (int b = 0; b < rank; ++b) n *= copy.extent[b];
    return n;
  }();

  /// Elements between two neighbours of a copy along an axis, in shared memory: rows lie densely.
  TILEFOUNDRY_HOST_DEVICE static constexpr int dense_stride(int axis) {
    int stride = 1;
    for (int b = rank - 1; b > axis; --b) stride *= copy.extent[b];
    return stride;
  }

  /// Whether the tile takes copies as they come: dense, with the map's swizzle, each from a multiple of the
  /// swizzle's period (of 128 bytes without one) on.
  template <int... B>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool fits(cute::seq<B...>) {
    using Swizzle = SwizzleOf<Tile>;
    if (Swizzle::num_bits != Movement::bits ||
        (Movement::bits != 0 && (Swizzle::num_base != 4 || Swizzle::num_shft != 3))) {
      return false;
    }
    constexpr int period = (128 << Movement::bits) / static_cast<int>(sizeof(T));
    return ((Access::template box<B> % copy.extent[B] == 0 &&
             BoxAxis<Access, B, Tile>::steps_by(dense_stride(B), copy.extent[B]) &&
             BoxAxis<Access, B, Tile>::aligned(period, copy.extent[B])) &&
            ...);
  }
  static constexpr bool valid = [] {
    if constexpr (!copy.valid) {
      return false;
    } else {
      return fits(cute::make_seq<rank>{});
    }
  }();

  /// f(start in global memory, offset in the tile) for each copy of this CTA's part.
  template <class F, int... B>
  TILEFOUNDRY_DEVICE static void for_each(Access const& access, F const& f, cute::seq<B...> axes) {
    constexpr BulkBox copy = make(axes);  // device code has no address of a static member
    constexpr int share_extent[] = {
        (B == copy.shared_axis ? Access::template box<B> / Movement::shares : Access::template box<B>)...};
    constexpr int count = ((share_extent[B] / copy.extent[B]) * ... * 1);
    int const part = Movement::shares > 1 ? target::cluster_rank() : 0;
    TILEFOUNDRY_UNROLL
    for (int n = 0; n < count; ++n) {
      int index[rank], rest = n;
      TILEFOUNDRY_UNROLL
      for (int b = rank - 1; b >= 0; --b) {
        int const copies = share_extent[b] / copy.extent[b];
        index[b] = rest % copies * copy.extent[b] + (b == copy.shared_axis ? part * share_extent[b] : 0);
        rest /= copies;
      }
      int const start[] = {(static_cast<int>(access.start[B]) + index[B])...};
      f(start, (BoxAxis<Access, B, Tile>::offset(index[B]) + ...));
    }
  }
};

/// Whether bulk copies move a box to or from a tile here.
template <class Box, class Tensor, class Movement, class Tile>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_bulk() {
  if constexpr (!target::bulk_copies_available() || std::is_same<Movement, ByInstances>::value) {
    return false;
  } else {
    using Access = TileAccess<Box, Tensor, typename Tile::global_layout_type>;
    if constexpr (Access::rank > kBulkRank || row_alignment<typename Tensor::iterator>::value < 16) {
      return false;
    } else {
      return BulkCopies<Access, Tile, Movement>::valid;
    }
  }
}

template <class Coord, int... B>
TILEFOUNDRY_DEVICE bool starts_inside(Coord const& coord, cute::seq<B...>) {
  return ((static_cast<int64_t>(cute::get<B>(coord)) >= 0) && ...);
}

/// Bulk copies begin at multiples of 16 bytes of a row, and what they store begins inside the tensor and ends
/// at such a multiple: seen on sm_90, where a copy from elsewhere and a store to before the tensor are
/// illegal instructions, and a box that overhangs writes 16 bytes at a time. Known at compile time for most
/// boxes; the instances copy the others.
template <bool Store, class Box, class Tensor, class Movement, class Coord>
TILEFOUNDRY_DEVICE bool bulk_reaches(TileMap<Box, Tensor, Movement> const& map, Coord const& coord) {
  if constexpr (Store) {
    if (!starts_inside(coord, cute::make_seq<Tensor::rank>{})) return false;
  }
  constexpr int inner = Tensor::rank - 1, box = decltype(cute::size<inner>(Box{}))::value;
  constexpr int64_t chunk = 16 / static_cast<int64_t>(sizeof(typename Tensor::value_type));
  int64_t const start = static_cast<int64_t>(cute::get<inner>(coord));
  int64_t const extent = static_cast<int64_t>(cute::size<inner>(map.tensor.layout()));
  return start % chunk == 0 && (!Store || extent % chunk == 0 || start + box <= extent);
}

/// By one instance of the CTA: starts the copies of a tile; the barrier expects the whole of it.
template <class Box, class Tensor, class Movement, class Coord, class Tile>
TILEFOUNDRY_DEVICE void bulk_load(TileMap<Box, Tensor, Movement> const& map, Coord const& coord, Tile& tile,
                                  char* barrier) {
  using Access = TileAccess<Box, Tensor, typename Tile::global_layout_type>;
  using Copies = BulkCopies<Access, Tile, Movement>;
  constexpr auto axes = cute::make_seq<Access::rank>{};
  target::mbarrier_expect(barrier, cute::size(Box{}) * static_cast<int>(sizeof(typename Access::T)));
  Copies::for_each(
      Access(map.tensor, coord, axes),
      [&](auto const& start, int offset) {
        if constexpr (Movement::shares > 1) {
          target::bulk_load_multicast(map.movement.map, tile.data() + offset, barrier, start,
                                      static_cast<uint16_t>((1 << Movement::shares) - 1));
        } else {
          target::bulk_load(map.movement.map, tile.data() + offset, barrier, start);
        }
      },
      axes);
}

/// By one instance: starts the copies of a tile to global memory, as one group.
template <class Box, class Tensor, class Movement, class Coord, class Tile>
TILEFOUNDRY_DEVICE void bulk_store(TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                   Tile const& tile) {
  using Access = TileAccess<Box, Tensor, typename Tile::global_layout_type>;
  static_assert(Movement::shares == 1, "ops::tile_store: a map of boxes that CTAs share is for loads");
  constexpr auto axes = cute::make_seq<Access::rank>{};
  BulkCopies<Access, Tile, Movement>::for_each(
      Access(map.tensor, coord, axes),
      [&](auto const& start, int offset) {
        target::bulk_store(map.movement.map, tile.data() + offset, start);
      },
      axes);
  target::bulk_store_commit();
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
