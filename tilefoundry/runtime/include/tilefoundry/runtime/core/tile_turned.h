// Loads of shared tiles whose neighbours are apart in global memory: of 16-bit and 8-bit elements, which no
// asynchronous copy moves one by one.
#pragma once

#include <tilefoundry/runtime/core/tile_packs.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The axes of a box with those of one axis counted in packs of N.
template <class Access, int Axis, int N, int B>
TILEFOUNDRY_HOST_DEVICE constexpr int turned_box() {
  return B == Axis ? Access::template box<B> / N : Access::template box<B>;
}

/// The box axis along which 16 bytes of a tile are neighbours, though not those of the tensor; -1 for none.
template <class Access, class Tile, int... B>
TILEFOUNDRY_HOST_DEVICE constexpr int turned_axis(cute::seq<B...>) {
  constexpr int n = 16 / static_cast<int>(sizeof(typename Access::T));
  if (sizeof(typename Access::T) > 2 || base_alignment<typename Tile::engine_type::iterator>::value < 16) {
    return -1;
  }
  if (SwizzleOf<Tile>::num_bits != 0 && SwizzleOf<Tile>::num_base < 4) return -1;
  bool const along[] = {(B != Access::inner && BoxAxis<Access, B, Tile>::contiguous(n))..., false};
  bool const beside[] = {BoxAxis<Access, B, Tile>::aligned(n)..., false};
  for (int a = 0; a < Access::rank; ++a) {
    bool fits = along[a];
    for (int b = 0; b < Access::rank; ++b) fits = fits && (b == a || beside[b]);
    if (fits) return a;
  }
  return -1;
}

/// A part of a box that an instance moves: N elements along Axis, at one place along the other axes or, for
/// Dense, at all places along those beyond Axis.
template <class Access>
struct TurnedPart {
  typename Access::Place place;  ///< of its first element, whatever its number along Axis
  int along;                     ///< that number, in the box
  int offset;                    ///< of the first element in the tile, before the swizzle
  bool exists;                   ///< in the box
};

template <class Slice, int Axis, int N, bool Dense, class Tile, class Access, int... B>
struct TurnedParts {
  static constexpr int threads = Movers<Slice, Access>::count;
  static constexpr int count = ((Dense && B > Axis ? 1 : turned_box<Access, Axis, N, B>()) * ... * 1);
  static_assert(threads > 0, "tile_load: the thread level must be static");

  TILEFOUNDRY_DEVICE static TurnedPart<Access> part(Access const& access, int first) {
    constexpr int boxes[] = {(Dense && B > Axis ? 1 : turned_box<Access, Axis, N, B>())...};
    int const number = first + Movers<Slice, Access>::rank();
    bool const exists = count % threads == 0 || number < count;
    int index[Access::rank], rest = exists ? number : 0;
    TILEFOUNDRY_UNROLL
    for (int b = Access::rank - 1; b >= 0; --b) {
      index[b] = rest % boxes[b] * (b == Axis ? N : 1);
      rest /= boxes[b];
    }
    return {access.template place_outside<Axis>(index, cute::seq<B...>{}), index[Axis],
            (BoxAxis<Access, B, Tile>::offset(index[B]) + ...), exists};
  }
};

/// Elements one by one, coalesced among instances, and into the tile 16 bytes at a time.
template <class Slice, int Axis, class Tile, class Access, class Pointer, int... B>
TILEFOUNDRY_DEVICE void load_turned(Access const& access, Pointer tile, cute::seq<B...>) {
  using T = typename Access::T;
  constexpr int n = 16 / static_cast<int>(sizeof(T));
  using Parts = TurnedParts<Slice, Axis, n, false, Tile, Access, B...>;
  constexpr int passes = (Parts::count + Parts::threads - 1) / Parts::threads;
  constexpr int batch = passes < 4 ? passes : 4;  // whose loads are in flight at once
  int64_t const extent = static_cast<int64_t>(cute::size<Axis>(access.tensor.layout()));
  int64_t const stride = static_cast<int64_t>(cute::stride<Axis>(access.tensor.layout()));
  TILEFOUNDRY_NO_UNROLL
  for (int pass = 0; pass < passes; pass += batch) {
    Pack<T, n> packs[batch];
    int offsets[batch];
    bool exist[batch];
    TILEFOUNDRY_UNROLL
    for (int u = 0; u < batch; ++u) {
      TurnedPart<Access> const part = Parts::part(access, (pass + u) * Parts::threads);
      int64_t const at = access.start[Axis] + part.along;
      exist[u] = part.exists && pass + u < passes;
      offsets[u] = part.offset;
      bool const reads = exist[u] && access.valid(part.place, 1) != 0;
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < n; ++j) {
        bool const inside = reads && static_cast<uint64_t>(at + j) < static_cast<uint64_t>(extent);
        packs[u].value[j] = inside ? access.base()[part.place.offset + j * stride] : T(0);
      }
    }
    TILEFOUNDRY_UNROLL
    for (int u = 0; u < batch; ++u) {
      if (exist[u]) store_shared_pack<n>(tile + swizzled<Tile>(offsets[u]), packs[u]);
    }
  }
}

/// Of places that an instance exchanges in registers.
inline constexpr int kMostPlaces = 16;

/// Places beyond Axis, all of which the box covers.
template <int Axis, class Access, int... B>
TILEFOUNDRY_HOST_DEVICE constexpr int places_beyond(cute::seq<B...>) {
  return ((B > Axis ? Access::template box<B> : 1) * ... * 1);
}

/// Whether the elements from Axis on lie densely in memory, from multiples of 16 bytes on, and are all there.
template <int Axis, class Access, int... B>
TILEFOUNDRY_DEVICE bool is_dense_beyond(Access const& access, cute::seq<B...>) {
  constexpr int boxes[] = {Access::template box<B>...};
  constexpr int64_t n = 16 / static_cast<int64_t>(sizeof(typename Access::T));
  int64_t const sizes[] = {static_cast<int64_t>(cute::size<B>(access.tensor.layout()))...};
  int64_t const strides[] = {static_cast<int64_t>(cute::stride<B>(access.tensor.layout()))...};
  int64_t dense = 1;
  bool fits = is_aligned<16>(access.base());
  TILEFOUNDRY_UNROLL
  for (int b = Access::inner; b >= Axis; --b) {
    fits = fits && (strides[b] == dense || sizes[b] == 1);
    if (b > Axis) fits = fits && access.start[b] == 0 && boxes[b] == sizes[b];
    dense *= sizes[b];
  }
  TILEFOUNDRY_UNROLL
  for (int b = 0; b < Axis; ++b) fits = fits && strides[b] % n == 0;
  return fits && access.start[Axis] % n == 0 && access.start[Axis] >= 0 &&
         access.start[Axis] + boxes[Axis] <= sizes[Axis];
}

/// All places beyond Axis of n elements along it, 16 bytes at a time, exchanged in registers.
template <class Slice, int Axis, class Tile, class Access, class Pointer, int... B>
TILEFOUNDRY_DEVICE void load_turned_dense(Access const& access, Pointer tile, cute::seq<B...> axes) {
  using T = typename Access::T;
  constexpr int n = 16 / static_cast<int>(sizeof(T)), places = places_beyond<Axis, Access>(axes);
  constexpr int boxes[] = {Access::template box<B>...};
  using Parts = TurnedParts<Slice, Axis, n, true, Tile, Access, B...>;
  TILEFOUNDRY_NO_UNROLL
  for (int first = 0; first < Parts::count; first += Parts::threads) {
    TurnedPart<Access> const part = Parts::part(access, first);
    if (!part.exists) continue;
    Pack<T, n> packs[places];
    TILEFOUNDRY_UNROLL
    for (int p = 0; p < places; ++p) {
      packs[p] =
          part.place.row_valid ? load_pack<n>(access.base() + part.place.offset + p * n) : Pack<T, n>{};
    }
    TILEFOUNDRY_UNROLL
    for (int p = 0; p < places; ++p) {
      Pack<T, n> turned;
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < n; ++j) {
        int const element = j * places + p;
        turned.value[j] = packs[element / n].value[element % n];
      }
      int index[Access::rank] = {}, rest = p;
      TILEFOUNDRY_UNROLL
      for (int b = Access::inner; b > Axis; --b) {
        index[b] = rest % boxes[b];
        rest /= boxes[b];
      }
      int const offset = part.offset + (BoxAxis<Access, B, Tile>::offset(index[B]) + ...);
      store_shared_pack<n>(tile + swizzled<Tile>(offset), turned);
    }
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
