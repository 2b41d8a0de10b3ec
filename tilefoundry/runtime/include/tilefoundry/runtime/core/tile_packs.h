// The packs of a whole shared tile that each instance moves.
#pragma once

#include <tilefoundry/runtime/core/tile_access.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// How a whole shared tile of type Tile lies along a box axis.
template <class Access, int B, class Tile>
struct BoxAxis {
  static constexpr int axis = Access::tile_axis(B);
  TILEFOUNDRY_DEVICE static int offset(int i) {
    if constexpr (axis < 0) {
      return 0;
    } else {
      return TileAxis<Tile, axis>::offset(i);
    }
  }
  /// The distance of elements that are `step` apart, where it is everywhere the same; -1 otherwise.
  TILEFOUNDRY_HOST_DEVICE static constexpr int distance(int step) {
    if constexpr (axis < 0) {
      return 0;
    } else {
      return TileAxis<Tile, axis>::distance(step);
    }
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr bool contiguous(int n) {
    if constexpr (axis < 0) {
      return n == 1;
    } else {
      return TileAxis<Tile, axis>::contiguous(n);
    }
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr bool aligned(int n, int step = 1) {
    if constexpr (axis < 0) {
      return true;
    } else {
      return TileAxis<Tile, axis>::aligned(step, n);
    }
  }
  /// Whether the elements of each run of `n` are `stride` apart.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool steps_by(int stride, int n) {
    if constexpr (axis < 0) {
      return n == 1;
    } else {
      return TileAxis<Tile, axis>::steps_by(stride, n);
    }
  }
};

/// Elements that one access to a whole shared tile may move along the innermost box axis.
template <class Access, class Tile, int... B>
TILEFOUNDRY_HOST_DEVICE constexpr int shared_pack(cute::seq<B...>) {
  int n = Access::aligned;
  while (n * static_cast<int>(sizeof(typename Tile::value_type)) >
             base_alignment<typename Tile::engine_type::iterator>::value &&
         n > 1) {
    n /= 2;
  }
  constexpr int chunk =
      (1 << SwizzleOf<Tile>::num_base) / static_cast<int>(sizeof(typename Tile::value_type));
  if (SwizzleOf<Tile>::num_bits != 0 && n > chunk) n = chunk;
  while (n > 1 && !(BoxAxis<Access, Access::inner, Tile>::contiguous(n) &&
                    ((B == Access::inner || BoxAxis<Access, B, Tile>::aligned(n)) && ...))) {
    n /= 2;
  }
  return n;
}

/// The only box axis besides the innermost whose extent is not 1; -1 when there is none or several.
template <class Access, int... B>
TILEFOUNDRY_HOST_DEVICE constexpr int row_axis(cute::seq<B...>) {
  constexpr int boxes[] = {Access::template box<B>...};
  int found = -1;
  for (int b = 0; b < Access::inner; ++b) {
    if (boxes[b] == 1) continue;
    if (found >= 0) return -1;
    found = b;
  }
  return found;
}

/// The instance's packs of a tile of rows, where a pass of all instances covers whole rows: its column stays,
/// so that a pass costs one step in each memory and one comparison.
template <class Slice, int N, class Tile, class Access, class F, int... B>
TILEFOUNDRY_DEVICE void for_each_row_pack(Access const& access, F const& f, cute::seq<B...> axes) {
  constexpr int threads = Movers<Slice, Access>::count;
  constexpr int per_row = Access::template box<Access::inner> / N;
  constexpr int axis = row_axis<Access>(cute::make_seq<Access::rank>{});
  constexpr int rows = Access::template box<axis>, step = threads / per_row;
  using Rows = BoxAxis<Access, axis, Tile>;
  int const thread = Movers<Slice, Access>::rank();
  int const first_row = thread / per_row;
  int const index[Access::rank] = {(B == Access::inner ? thread % per_row * N
                                    : B == axis        ? first_row
                                                       : 0)...};
  auto place = access.template place_outside<axis>(index, axes);
  int64_t const stride = step * static_cast<int64_t>(cute::stride<axis>(access.tensor.layout()));
  // Rows from the first one on that exist: [begin, end).
  int64_t const at = access.start[axis] + first_row;
  int64_t const left = static_cast<int64_t>(cute::size<axis>(access.tensor.layout())) - at;
  int const begin = at < 0 ? (at < -rows ? rows : static_cast<int>(-at)) : 0;
  int const end = place.row_valid ? (left > rows ? rows : static_cast<int>(left)) : 0;
  int const linear = (BoxAxis<Access, B, Tile>::offset(index[B]) + ...);
  int const first = swizzled<Tile>(linear);
  // Steps by whole periods of the swizzle leave the permutation as it is.
  using Swizzle = SwizzleOf<Tile>;
  constexpr int period = Swizzle::num_bits == 0
                             ? 1
                             : (1 << (Swizzle::num_base + Swizzle::num_shft + Swizzle::num_bits)) /
                                   static_cast<int>(sizeof(typename Tile::value_type));
  constexpr int distance = Rows::distance(1);
  constexpr bool uniform = distance >= 0 && distance * step % period == 0;
  TILEFOUNDRY_UNROLL_16
  for (int row = 0; row < rows; row += step) {
    if (rows % step == 0 || first_row + row < rows) {
      place.row_valid = row >= begin && row < end;
      f(place, uniform ? first + row * distance
                       : swizzled<Tile>(linear + Rows::offset(first_row + row) - Rows::offset(first_row)));
    }
    place.offset += stride;
  }
}

/// Visits the packs of a whole tile that the instance moves: f(place in global memory, offset in the tile).
/// @tparam Slice the instances that share the work; void for the whole CTA
template <class Slice, int N, class Tile, class Access, class F, int... B>
TILEFOUNDRY_DEVICE void for_each_pack(Access const& access, F const& f, cute::seq<B...> axes) {
  constexpr int per_row = Access::template box<Access::inner> / N;
  constexpr int packs = (Access::template box<B> * ... * 1) / N;
  constexpr int threads = Movers<Slice, Access>::count;
  static_assert(threads > 0, "tile_load, tile_store: the thread level must be static");
  if constexpr (row_axis<Access>(cute::make_seq<Access::rank>{}) >= 0 && per_row <= threads &&
                threads % per_row == 0) {
    for_each_row_pack<Slice, N, Tile>(access, f, axes);
  } else {
    int const thread = Movers<Slice, Access>::rank();
    auto const visit = [&](int pack) {
      int index[Access::rank];
      index[Access::inner] = pack % per_row * N;
      unflatten<Access>(pack / per_row, index, axes);
      f(access.place(index, axes), swizzled<Tile>((BoxAxis<Access, B, Tile>::offset(index[B]) + ...)));
    };
    TILEFOUNDRY_UNROLL_4
    for (int first = 0; first < packs; first += threads) {
      if (packs % threads == 0 || first + threads <= packs || first + thread < packs) visit(first + thread);
    }
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
