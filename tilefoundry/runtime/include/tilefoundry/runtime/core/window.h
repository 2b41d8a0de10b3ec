// Windows: boxes of tensors in memory with run-time extents, which ops with an index read and write.
//
//   auto rows = make_window<Axes<0, 1>>(table, make_coord(0, 64), make_coord(V, Int<64>{}));
#pragma once

#include <tilefoundry/runtime/core/matrix.h>
#include <tilefoundry/runtime/core/reduce_plan.h>
#include <tilefoundry/runtime/core/share.h>
#include <tilefoundry/runtime/core/tensors.h>
#include <tilefoundry/runtime/core/tile_access.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// A box of a tensor in global memory, or a whole shared tile. Axis w of the window is axis Kept[w] of the
/// tensor; along the others it has one element. What lies beyond the tensor reads as zero and is not written.
template <class Tensor, class Extents, class Kept>
struct Window;

/// Elements along an axis of a window, of which less has to be computed for each; 0 beyond the tensor.
template <class Pointer>
struct WindowLine {
  Pointer first;
  int64_t stride, begin, end;  ///< those from begin to end exist

  TILEFOUNDRY_DEVICE auto load(int64_t k) const {
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*first)>>;
    return k >= begin && k < end ? static_cast<T>(first[k * stride]) : T(0);
  }
};

template <class Tensor, class Extents, int... Kept>
struct Window<Tensor, Extents, Axes<Kept...>> {
  using value_type = typename Tensor::value_type;
  static constexpr int rank = sizeof...(Kept), tensor_rank = Tensor::rank;
  static constexpr int inner = Tensor::rank - 1;
  static constexpr bool shared = cute::is_smem<typename Tensor::iterator>::value;
  static_assert(rank > 0 && ((Kept < Tensor::rank) && ...), "make_window: an axis that the tensor lacks");

  Tensor tensor;
  int64_t start[Tensor::rank];
  Extents extents;

  template <int W>
  TILEFOUNDRY_DEVICE int64_t extent() const {
    return static_cast<int64_t>(cute::get<W>(extents));
  }

  /// Whether the last axis of the window is the tensor's, so that neighbours may be neighbours in memory.
  static constexpr bool has_inner = [] {
    constexpr int kept[] = {Kept...};
    return kept[rank - 1] == inner;
  }();

  /// Elements along the last axis that one access may move, as far as types tell; 1 when they tell nothing.
  TILEFOUNDRY_HOST_DEVICE static constexpr int pack() {
    if constexpr (!has_inner || !cute::is_constant<1, decltype(cute::stride<inner>(
                                                          typename Tensor::layout_type{}))>::value) {
      return 1;
    } else if constexpr (shared) {
      return shared_pack(cute::make_seq<Tensor::rank>{});
    } else {
      constexpr int n =
          row_alignment<typename Tensor::iterator>::value / static_cast<int>(sizeof(value_type));
      return n > 1 ? n : 1;
    }
  }
  /// Whether packs of n start aligned here.
  TILEFOUNDRY_DEVICE bool aligned(int n) const { return start[inner] % n == 0; }

  struct Place {
    int64_t offset;
    int64_t column;  ///< index along the tensor's last axis
    bool row_valid;  ///< the others are in range
  };

  /// Where the element at a coordinate of the window lies.
  TILEFOUNDRY_DEVICE Place place(int64_t const (&at)[rank]) const {
    return place(at, cute::make_seq<Tensor::rank>{});
  }

  /// How many of `n` elements from a place on exist.
  TILEFOUNDRY_DEVICE int valid(Place const& p, int n) const {
    if constexpr (shared) {
      return n;
    } else {
      int64_t const left = static_cast<int64_t>(cute::size<inner>(tensor.layout())) - p.column;
      if (!p.row_valid || p.column < 0 || left <= 0) return 0;
      return left < n ? static_cast<int>(left) : n;
    }
  }

  TILEFOUNDRY_DEVICE auto base() const { return cute::raw_pointer_cast(tensor.data()); }

  /// N neighbours along the last axis; packs that are whole move at once.
  template <int N>
  TILEFOUNDRY_DEVICE Pack<value_type, N> load(int64_t const (&at)[rank]) const {
    Place const p = place(at);
    int const n = valid(p, N);
    if (N > 1 && n == N) return load_pack<N>(base() + p.offset);
    Pack<value_type, N> result;
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < N; ++j)
      result.value[j] = j < n ? base()[p.offset + j * inner_stride()] : value_type(0);
    return result;
  }
  template <int N>
  TILEFOUNDRY_DEVICE void store(int64_t const (&at)[rank], Pack<value_type, N> const& pack) const {
    Place const p = place(at);
    int const n = valid(p, N);
    if (N > 1 && n == N) {
      store_pack<N>(base() + p.offset, pack);
    } else {
      TILEFOUNDRY_UNROLL
      for (int j = 0; j < N; ++j) {
        if (j < n) base()[p.offset + j * inner_stride()] = pack.value[j];
      }
    }
  }
  /// The elements along axis W, by number; at[W] is 0.
  template <int W, int... T>
  TILEFOUNDRY_DEVICE auto line(int64_t const (&at)[rank], cute::seq<T...>) const {
    constexpr int kept[] = {Kept...}, axis = kept[W];
    int64_t const sizes[] = {static_cast<int64_t>(cute::size<T>(tensor.layout()))...};
    bool const exist = ((T == axis || (index<T>(at) >= 0 && index<T>(at) < sizes[T])) && ...);
    int64_t const begin = -start[axis], end = exist ? begin + sizes[axis] : begin;
    int64_t const stride = static_cast<int64_t>(cute::stride<axis>(tensor.layout()));
    return WindowLine<decltype(base())>{base() + place(at).offset, stride, begin, end};
  }
  /// The element at a coordinate, or null beyond the tensor.
  TILEFOUNDRY_DEVICE auto find(int64_t const (&at)[rank]) const {
    Place const p = place(at);
    return valid(p, 1) ? base() + p.offset : decltype(base()){};
  }

 private:
  TILEFOUNDRY_DEVICE int64_t inner_stride() const {
    return static_cast<int64_t>(cute::stride<inner>(tensor.layout()));
  }

  /// The index along tensor axis T for a coordinate of the window.
  template <int T>
  TILEFOUNDRY_DEVICE int64_t index(int64_t const (&at)[rank]) const {
    constexpr int kept[] = {Kept...};
    int64_t result = start[T];
    TILEFOUNDRY_UNROLL
    for (int w = 0; w < rank; ++w) {
      if (kept[w] == T) result += at[w];
    }
    return result;
  }

  template <int... T>
  TILEFOUNDRY_DEVICE Place place(int64_t const (&at)[rank], cute::seq<T...>) const {
    int64_t const indices[] = {index<T>(at)...};
    Place p{0, indices[inner], true};
    ((p.offset += indices[T] * static_cast<int64_t>(cute::stride<T>(tensor.layout()))), ...);
    if constexpr (!shared) {
      ((p.row_valid =
            p.row_valid && (T == inner || static_cast<uint64_t>(indices[T]) <
                                              static_cast<uint64_t>(cute::size<T>(tensor.layout())))),
       ...);
    }
    return p;
  }

  /// Shared tiles start at multiples of 16 bytes; a pack does so in each row where all other strides do.
  template <int... T>
  TILEFOUNDRY_HOST_DEVICE static constexpr int shared_pack(cute::seq<T...>) {
    using Layout = typename Tensor::layout_type;
    int n = base_alignment<typename Tensor::iterator>::value / static_cast<int>(sizeof(value_type));
    int const columns = decltype(cute::size<inner>(Layout{}))::value;
    while (n > 1 && !(columns % n == 0 &&
                      ((T == inner || decltype(cute::stride<T>(Layout{}))::value % n == 0) && ...))) {
      n /= 2;
    }
    return n;
  }
};

template <class T>
struct is_window : cute::false_type {};
template <class Tensor, class Extents, class Kept>
struct is_window<Window<Tensor, Extents, Kept>> : cute::true_type {};

template <class Kept, class Tensor, class Coord, class Extents, int... T>
TILEFOUNDRY_DEVICE auto make_window(Tensor const& tensor, Coord const& coord, Extents const& extents,
                                    cute::seq<T...>) {
  constexpr bool starts = decltype(cute::rank(coord))::value == sizeof...(T);
  constexpr bool ends = Kept::count == decltype(cute::rank(extents))::value;
  static_assert(starts, "make_window: one start coordinate per axis of the tensor");
  static_assert(ends, "make_window: one extent per axis of the window");
  if constexpr (starts && ends) {
    return Window<Tensor, Extents, Kept>{tensor, {static_cast<int64_t>(cute::get<T>(coord))...}, extents};
  }
}

/// Visits the elements of a window in packs of N along its last axis: f(coordinate).
template <int N, class W, class Share, class F, int... A>
TILEFOUNDRY_DEVICE void for_each_pack_of(W const& window, Share const& share, F const& f, cute::seq<A...>) {
  int64_t const extents[] = {
      (A == W::rank - 1 ? window.template extent<A>() / N : window.template extent<A>())...};
  int64_t total = 1;
  TILEFOUNDRY_UNROLL
  for (int a = 0; a < W::rank; ++a) total *= extents[a];
  auto const walk = [&](auto number) {
    using Number = decltype(number);  // division of 32 bits costs a fraction of that of 64
    for (int64_t n = share.first; n < total; n += share.step) {
      int64_t at[W::rank];
      Number rest = static_cast<Number>(n);
      TILEFOUNDRY_UNROLL
      for (int a = W::rank - 1; a > 0; --a) {
        Number const extent = static_cast<Number>(extents[a]);
        at[a] = static_cast<int64_t>(rest % extent);
        rest /= extent;
      }
      at[0] = static_cast<int64_t>(rest);
      at[W::rank - 1] *= N;
      f(at);
    }
  };
  if (total <= 0xffffffff) {
    walk(uint32_t{});
  } else {
    walk(uint64_t{});
  }
}

/// As above with the widest packs that all of the windows (of one extent along their last axis) allow.
template <class Out, class Share, class F, class... In>
TILEFOUNDRY_DEVICE void for_each_wide_pack(Out const& out, Share const& share, F const& f, In const&... in) {
  constexpr int n = [] {
    int least = Out::pack();
    ((least = smaller(least, In::pack())), ...);
    return least;
  }();
  auto const axes = cute::make_seq<Out::rank>{};
  if constexpr (n > 1) {
    if (out.template extent<Out::rank - 1>() % n == 0 && out.aligned(n) && (in.aligned(n) && ...)) {
      for_each_pack_of<n>(out, share, [&](auto const& at) { f(cute::Int<n>{}, at); }, axes);
      return;
    }
  }
  for_each_pack_of<1>(out, share, [&](auto const& at) { f(cute::Int<1>{}, at); }, axes);
}

/// Whether a run-time index is in [0, extent). Where not, the launch is stopped; nothing is read or written
/// with it.
TILEFOUNDRY_DEVICE bool check_index(int64_t index, int axis, int64_t extent) {
  if (static_cast<uint64_t>(index) < static_cast<uint64_t>(extent)) return true;
  target::index_out_of_range(index, axis, extent);
  return false;
}

/// The same for the positions [first, first + count).
TILEFOUNDRY_DEVICE bool check_range(int64_t first, int64_t count, int axis, int64_t extent) {
  if (first >= 0 && count >= 0 && first <= extent && count <= extent - first) return true;
  target::range_out_of_bounds(first, count, axis, extent);
  return false;
}

}  // namespace detail

/// A box of a global tensor, or a whole shared tile.
/// @tparam Kept the tensor's axes that the window has, in order
/// @param start start elements, one for each axis of the tensor
/// @param extents one for each axis of the window; static or not
template <class Kept, class Tensor, class Start, class Extents>
TILEFOUNDRY_DEVICE auto make_window(Tensor const& tensor, Start const& start, Extents const& extents) {
  if constexpr (is_shard_tensor<Tensor>::value) {
    static_assert(detail::is_whole<Tensor>::value && detail::is_shared_v<Tensor>,
                  "make_window: a tile must be a whole one in shared memory");
    static_assert(detail::SwizzleOf<Tensor>::num_bits == 0,
                  "make_window: a swizzled tile has no rows in order");
    auto const tile = local(tensor);
    return detail::make_window<Kept>(tile, start, extents, cute::make_seq<decltype(tile)::rank>{});
  } else {
    static_assert(cute::is_tensor<Tensor>::value, "make_window: expected a CuTe tensor or a shared tile");
    return detail::make_window<Kept>(tensor, start, extents, cute::make_seq<Tensor::rank>{});
  }
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
