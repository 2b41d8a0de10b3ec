// How ops::tile_load and ops::tile_store reach global memory: packs of 16, 8 or 4 bytes where alignment is
// proven, single elements otherwise.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/matrix.h>
#include <tilefoundry/runtime/core/slice.h>
#include <tilefoundry/runtime/core/tensors.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

namespace detail {

template <class Box, class Tensor, class Movement>
struct TileMap;

TILEFOUNDRY_HOST_DEVICE constexpr int smaller(int a, int b) { return a < b ? a : b; }

/// The box of a tile map against a tile of logical layout GL. Axes of extent 1 aside, they are equal in
/// order.
template <class Box, class Tensor, class GL>
struct TileAccess {
  using T = typename Tensor::value_type;
  static constexpr int rank = Tensor::rank;
  static constexpr int tile_rank = decltype(cute::rank(GL{}))::value;
  static constexpr int inner = rank - 1;

  template <int B>
  static constexpr int box = decltype(cute::size<B>(Box{}))::value;

  /// The tile axis of a box axis, -1 for an extent of 1.
  TILEFOUNDRY_HOST_DEVICE static constexpr int tile_axis(int b) {
    return plan(cute::make_seq<rank>{}, cute::make_seq<tile_rank>{}).axis[b];
  }
  static_assert(rank > 0, "tile_load, tile_store: the tensor has at least one axis");

  /// Elements that one access to global memory may move, as far as the tensor knows.
  static constexpr int aligned = [] {
    using Inner = decltype(cute::stride<inner>(typename Tensor::layout_type{}));
    if constexpr (cute::is_constant<1, Inner>::value) {
      constexpr int n = row_alignment<typename Tensor::iterator>::value / static_cast<int>(sizeof(T));
      return n > 1 ? n : 1;
    } else {
      return 1;
    }
  }();

  Tensor const& tensor;
  int64_t start[rank];

  template <class Coord, int... B>
  TILEFOUNDRY_DEVICE TileAccess(Tensor const& t, Coord const& coord, cute::seq<B...>)
      : tensor(t), start{start_of<B>(coord)...} {
    static_assert(plan(cute::make_seq<rank>{}, cute::make_seq<tile_rank>{}).valid,
                  "tile_load, tile_store: the box and the tile must have the same extents, those of 1 aside");
  }

  /// Offset of the element at box-relative indices, and whether all axes but the innermost are in range.
  struct Place {
    int64_t offset;
    int64_t column;  ///< index on the innermost axis
    bool row_valid;
  };

  template <int... B>
  TILEFOUNDRY_DEVICE Place place(int const (&index)[rank], cute::seq<B...>) const {
    Place p{0, start[inner] + index[inner], true};
    (place_axis<B>(p, index[B]), ...);
    return p;
  }

  /// As above, except that the row is not asked whether its index along `Axis` is in range.
  template <int Axis, int... B>
  TILEFOUNDRY_DEVICE Place place_outside(int const (&index)[rank], cute::seq<B...>) const {
    Place p{0, start[inner] + index[inner], true};
    (place_axis<B, B != Axis>(p, index[B]), ...);
    return p;
  }

  /// Whether every element of the box exists: then none is asked for, and all accesses are in flight at once.
  TILEFOUNDRY_DEVICE bool whole() const { return whole(cute::make_seq<rank>{}); }

  /// Whether the box lies within the tensor's rows, along the innermost axis: known at compile time for most
  /// boxes.
  TILEFOUNDRY_DEVICE bool whole_rows() const {
    return start[inner] >= 0 &&
           start[inner] + box<inner> <= static_cast<int64_t>(cute::size<inner>(tensor.layout()));
  }

  /// How many of `n` elements from the place's column on exist.
  TILEFOUNDRY_DEVICE int valid(Place const& p, int n) const {
    int64_t const extent = static_cast<int64_t>(cute::size<inner>(tensor.layout()));
    if (!p.row_valid || p.column < 0 || p.column >= extent) return 0;
    return extent - p.column < n ? static_cast<int>(extent - p.column) : n;
  }

  TILEFOUNDRY_DEVICE auto base() const { return cute::raw_pointer_cast(tensor.data()); }
  TILEFOUNDRY_DEVICE int64_t inner_stride() const {
    return static_cast<int64_t>(cute::stride<inner>(tensor.layout()));
  }

 private:
  template <int B, class Coord>
  TILEFOUNDRY_DEVICE static int64_t start_of(Coord const& coord) {
    constexpr bool fits = decltype(cute::rank(coord))::value == rank;
    static_assert(fits, "tile_load, tile_store: one start coordinate per axis");
    if constexpr (fits) {
      return static_cast<int64_t>(cute::get<B>(coord));
    } else {
      return 0;
    }
  }

  template <int... B>
  TILEFOUNDRY_DEVICE bool whole(cute::seq<B...>) const {
    return ((start[B] >= 0 && start[B] + box<B> <= static_cast<int64_t>(cute::size<B>(tensor.layout()))) &&
            ...);
  }

  struct Plan {
    int axis[rank + 1] = {};
    bool valid = true;
  };

  template <int... B, int... A>
  TILEFOUNDRY_HOST_DEVICE static constexpr Plan plan(cute::seq<B...>, cute::seq<A...>) {
    int const boxes[] = {box<B>..., 1};
    int const tile[] = {decltype(cute::size<A>(GL{}))::value..., 1};
    Plan result;
    int a = 0;
    for (int b = 0; b < rank; ++b) {
      result.axis[b] = -1;
      if (boxes[b] == 1) continue;
      while (a < tile_rank && tile[a] == 1) ++a;
      result.valid = result.valid && a < tile_rank && tile[a] == boxes[b];
      result.axis[b] = a < tile_rank ? a++ : -1;
    }
    while (a < tile_rank && tile[a] == 1) ++a;
    result.valid = result.valid && a == tile_rank;
    return result;
  }

  template <int B, bool Check = true>
  TILEFOUNDRY_DEVICE void place_axis(Place& p, int index) const {
    int64_t const at = start[B] + index;
    p.offset += at * static_cast<int64_t>(cute::stride<B>(tensor.layout()));
    if constexpr (Check && B != inner) {
      int64_t const extent = static_cast<int64_t>(cute::size<B>(tensor.layout()));
      p.row_valid = p.row_valid && static_cast<uint64_t>(at) < static_cast<uint64_t>(extent);
    }
  }
};

template <class Access, int... B>
TILEFOUNDRY_DEVICE void unflatten(int row, int (&index)[Access::rank], cute::seq<B...>) {
  constexpr int boxes[] = {Access::template box<B>...};
  TILEFOUNDRY_UNROLL
  for (int b = Access::rank - 2; b >= 0; --b) {
    index[b] = row % boxes[b];
    row /= boxes[b];
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
