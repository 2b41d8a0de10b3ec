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

/// Calls f(place of the first element, offset in the tile, indices) for each of the instance's parts of the
/// box: N elements along Axis, at one place along the others or, for Dense, at all places along those beyond
/// Axis.
template <class Slice, int Axis, int N, bool Dense, class Tile, class Access, class F, int... B>
TILEFOUNDRY_DEVICE void for_each_turned(Access const& access, F const& f, cute::seq<B...> axes) {
  constexpr int threads = Movers<Slice, Access>::count;
  constexpr int parts = ((Dense && B > Axis ? 1 : turned_box<Access, Axis, N, B>()) * ... * 1);
  static_assert(threads > 0, "tile_load: the thread level must be static");
  int const thread = Movers<Slice, Access>::rank();
  TILEFOUNDRY_UNROLL_4
  for (int first = 0; first < parts; first += threads) {
    if (parts % threads != 0 && first + threads > parts && first + thread >= parts) break;
    constexpr int boxes[] = {(Dense && B > Axis ? 1 : turned_box<Access, Axis, N, B>())...};
    int index[Access::rank], rest = first + thread;
    TILEFOUNDRY_UNROLL
    for (int b = Access::rank - 1; b >= 0; --b) {
      index[b] = rest % boxes[b] * (b == Axis ? N : 1);
      rest /= boxes[b];
    }
    f(access.template place_outside<Axis>(index, axes), (BoxAxis<Access, B, Tile>::offset(index[B]) + ...),
      index[Axis]);
  }
}

/// Elements one by one, coalesced among instances, and into the tile 16 bytes at a time.
template <class Slice, int Axis, class Tile, class Access, class Pointer>
TILEFOUNDRY_DEVICE void load_turned(Access const& access, Pointer tile) {
  using T = typename Access::T;
  constexpr int n = 16 / static_cast<int>(sizeof(T));
  int64_t const extent = static_cast<int64_t>(cute::size<Axis>(access.tensor.layout()));
  int64_t const stride = static_cast<int64_t>(cute::stride<Axis>(access.tensor.layout()));
  for_each_turned<Slice, Axis, n, false, Tile>(
      access,
      [&](auto const& place, int offset, int along) {
        int64_t const at = access.start[Axis] + along;
        bool const exists = access.valid(place, 1) != 0;
        Pack<T, n> pack;
        TILEFOUNDRY_UNROLL
        for (int j = 0; j < n; ++j) {
          bool const inside = exists && static_cast<uint64_t>(at + j) < static_cast<uint64_t>(extent);
          pack.value[j] = inside ? access.base()[place.offset + j * stride] : T(0);
        }
        store_pack<n>(tile + swizzled<Tile>(offset), pack);
      },
      cute::make_seq<Access::rank>{});
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
  constexpr int n = 16 / static_cast<int>(sizeof(T));
  constexpr int places = places_beyond<Axis, Access>(cute::make_seq<Access::rank>{});
  for_each_turned<Slice, Axis, n, true, Tile>(
      access,
      [&](auto const& place, int offset, int) {
        Pack<T, n> packs[places];
        TILEFOUNDRY_UNROLL
        for (int p = 0; p < places; ++p) {
          packs[p] = place.row_valid ? load_pack<n>(access.base() + place.offset + p * n) : Pack<T, n>{};
        }
        TILEFOUNDRY_UNROLL
        for (int p = 0; p < places; ++p) {
          Pack<T, n> turned;
          TILEFOUNDRY_UNROLL
          for (int j = 0; j < n; ++j) {
            int const element = j * places + p;
            turned.value[j] = packs[element / n].value[element % n];
          }
          constexpr int boxes[] = {Access::template box<B>...};
          int index[Access::rank] = {}, rest = p;
          TILEFOUNDRY_UNROLL
          for (int b = Access::inner; b > Axis; --b) {
            index[b] = rest % boxes[b];
            rest /= boxes[b];
          }
          store_pack<n>(tile + swizzled<Tile>(offset + (BoxAxis<Access, B, Tile>::offset(index[B]) + ...)),
                        turned);
        }
      },
      axes);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
