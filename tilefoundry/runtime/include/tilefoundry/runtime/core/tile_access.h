// How ops::tile_load and ops::tile_store reach global memory: packs of 16, 8 or 4 bytes where alignment is
// proven, single elements otherwise.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/tensors.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <class Box, class Tensor>
struct TileMap;

namespace detail {

template <class Pointer>
struct row_alignment {
  static constexpr int value = 1;
};
template <class T, int Bytes>
struct row_alignment<cute::gmem_ptr<AlignedRows<T, Bytes>>> {
  static constexpr int value = Bytes;
};

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
      : tensor(t), start{static_cast<int64_t>(cute::get<B>(coord))...} {
    static_assert(decltype(cute::rank(coord))::value == rank,
                  "tile_load, tile_store: one start coordinate per axis");
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

  /// How many of `n` elements from the place's column on exist.
  TILEFOUNDRY_DEVICE int valid(Place const& p, int n) const {
    int64_t const extent = static_cast<int64_t>(cute::size<inner>(tensor.layout()));
    if (!p.row_valid || p.column < 0 || p.column >= extent) return 0;
    return extent - p.column < n ? static_cast<int>(extent - p.column) : n;
  }

  TILEFOUNDRY_DEVICE T* base() const { return cute::raw_pointer_cast(tensor.data()); }
  TILEFOUNDRY_DEVICE int64_t inner_stride() const {
    return static_cast<int64_t>(cute::stride<inner>(tensor.layout()));
  }

 private:
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

  template <int B>
  TILEFOUNDRY_DEVICE void place_axis(Place& p, int index) const {
    int64_t const at = start[B] + index;
    p.offset += at * static_cast<int64_t>(cute::stride<B>(tensor.layout()));
    if constexpr (B != inner) {
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

/// Storage stride of each box axis in a whole shared tile, 0 for extents of 1.
template <class Access, int B, class Storage>
TILEFOUNDRY_HOST_DEVICE constexpr int tile_stride() {
  constexpr int axis = Access::tile_axis(B);
  if constexpr (axis < 0) {
    return 0;
  } else {
    static_assert(cute::is_static<decltype(cute::stride<axis>(Storage{}))>::value &&
                      cute::is_integral<decltype(cute::stride<axis>(Storage{}))>::value,
                  "tile_load, tile_store: a shared tile has one storage mode per axis");
    return decltype(cute::stride<axis>(Storage{}))::value;
  }
}

/// Elements that one access to a whole shared tile may move along the innermost box axis.
template <class Access, class Storage, int... B>
TILEFOUNDRY_HOST_DEVICE constexpr int shared_pack(cute::seq<B...>) {
  constexpr int strides[] = {tile_stride<Access, B, Storage>()...};
  if (strides[Access::inner] != 1) return 1;
  int n = Access::aligned;
  while (n > 1 && Access::template box<Access::inner> % n != 0) n /= 2;
  for (int b = 0; b + 1 < Access::rank; ++b) {
    while (n > 1 && strides[b] % n != 0) n /= 2;
  }
  return n;
}

/// Visits the packs of a whole tile that the instance moves: f(place in global memory, offset in the tile).
template <int N, class Storage, class Access, class F, int... B>
TILEFOUNDRY_DEVICE void for_each_pack(Access const& access, F const& f, cute::seq<B...> axes) {
  constexpr int per_row = Access::template box<Access::inner> / N;
  constexpr int packs = (Access::template box<B> * ... * 1) / N;
  constexpr int threads = static_program_dim<kThreadLevel<Access>>();
  static_assert(threads > 0, "tile_load, tile_store: the thread level must be static");
  int const thread = program_id<TopologyScope::thread>();
  auto const visit = [&](int pack) {
    int index[Access::rank];
    index[Access::inner] = pack % per_row * N;
    unflatten<Access>(pack / per_row, index, axes);
    f(access.place(index, axes), ((index[B] * tile_stride<Access, B, Storage>()) + ...));
  };
  TILEFOUNDRY_UNROLL_4
  for (int first = 0; first < packs; first += threads) {
    if (packs % threads == 0 || first + threads <= packs || first + thread < packs) visit(first + thread);
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
