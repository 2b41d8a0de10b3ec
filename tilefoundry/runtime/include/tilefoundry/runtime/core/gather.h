// ops::gather: elements of a window at run-time indices along one axis. Rows of a table by number, and one
// element for each index.
//
//   ops::gather(make_window<Axes<0, 1>>(table, make_coord(0, 0), make_coord(V, Int<64>{})), ids, rows, _0{});
#pragma once

#include <tilefoundry/runtime/core/elementwise.h>
#include <tilefoundry/runtime/core/window.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The index for a coordinate of the result: that along `Axis` for a window of rank 1, else that at the
/// coordinate.
template <int Axis, class Index, int Rank>
TILEFOUNDRY_DEVICE int64_t index_at(Index const& index, int64_t const (&at)[Rank]) {
  if constexpr (Index::rank == 1) {
    return static_cast<int64_t>(index.template load<1>({at[Axis]}).value[0]);
  } else {
    static_assert(Index::rank == Rank, "ops::gather: the index has rank 1, or that of the result");
    return static_cast<int64_t>(index.template load<1>(at).value[0]);
  }
}

/// Elements of a fragment that are neighbours in the source: those along the last axis, where all of them
/// have one index.
template <int Axis, class Src, class Index, class Dst>
TILEFOUNDRY_HOST_DEVICE constexpr int gather_pack() {
  using F = FragmentOf<Dst>;
  if constexpr (!is_window<Index>::value || Axis == F::axes - 1) {
    return 1;
  } else if constexpr (Index::rank != 1) {
    return 1;
  } else {
    constexpr int run = contiguous_run<decltype(F::template steps<F::axes - 1>())>();
    return smaller(Src::pack(), run & -run);
  }
}

template <int N, int Axis, class Src, class Index, class Dst, int... A>
TILEFOUNDRY_DEVICE void gather_fragment(Src const& src, Index const& index, Dst& dst, cute::seq<A...>) {
  using F = FragmentOf<Dst>;
  auto const coords = dst.shard_layout.mesh.local_index();
  int const origin[] = {static_cast<int>(F::template origin<A>(coords))...};
  auto const out = elements(dst);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < F::count; i += N) {
    int64_t at[] = {(origin[A] + decltype(F::template steps<A>()){}(i))...};
    if constexpr (is_window<Index>::value) {
      at[Axis] = index_at<Axis>(index, at);
    } else {
      at[Axis] = static_cast<int64_t>(elements(index)(i));
    }
    Pack<typename Dst::value_type, N> pack{};
    if (check_index(at[Axis], Axis, src.template extent<Axis>())) pack = src.template load<N>(at);
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < N; ++j) out(i + j) = pack.value[j];
  }
}

template <int Axis, class Src, class Index, class Dst>
TILEFOUNDRY_DEVICE void gather_window(Src const& src, Index const& index, Dst const& dst,
                                      Share const& share) {
  static_assert(is_window<Index>::value, "ops::gather: a result in memory takes its indices from memory");
  auto const move = [&](auto n, auto const& where) {
    int64_t at[Dst::rank];
    TILEFOUNDRY_UNROLL
    for (int a = 0; a < Dst::rank; ++a) at[a] = where[a];
    at[Axis] = index_at<Axis>(index, where);
    if (check_index(at[Axis], Axis, src.template extent<Axis>())) {
      dst.store(where, src.template load<decltype(n)::value>(at));
    }
  };
  if constexpr (Axis != Dst::rank - 1 && Index::rank == 1) {
    for_each_wide_pack(dst, share, move, src);
  } else {
    for_each_pack_of<1>(
        dst, share, [&](auto const& at) { move(cute::Int<1>{}, at); }, cute::make_seq<Dst::rank>{});
  }
}

}  // namespace detail

namespace ops {

/// dst at a coordinate = src at that coordinate with its `Axis`-th entry replaced by the index.
///
/// An index outside of [0, extent of src along Axis) stops the launch with an error that names it; nothing is
/// read with it. What lies beyond src's tensor reads as zero.
/// @param src a window of a global tensor, or of a whole shared tile, of dst's rank
/// @param index integers: a window of rank 1, with one index for each coordinate of dst along Axis; a window
/// of
///   dst's rank, with one for each element; or a register fragment with dst's local shape
/// @param dst a register fragment, of which each instance gathers its own part, or a window, whose elements
/// the
///   instances of `share` divide (a barrier is the caller's)
template <int Axis, class Src, class Index, class Dst>
TILEFOUNDRY_DEVICE void gather(Src const& src, Index const& index, Dst&& dst, cute::C<Axis>,
                               [[maybe_unused]] Share const& share = share_of_cta<Dst>()) {
  TILEFOUNDRY_OP("gather");
  using D = detail::remove_cvref_t<Dst>;
  static_assert(detail::is_window<Src>::value, "ops::gather: the source must be a window (make_window)");
  static_assert(std::is_same<typename Src::value_type, typename D::value_type>::value,
                "ops::gather: source and destination types differ");
  static_assert(std::is_integral<typename Index::value_type>::value, "ops::gather: indices must be integers");
  if constexpr (detail::is_window<D>::value) {
    static_assert(Src::rank == D::rank && Axis < D::rank, "ops::gather: the source must have dst's axes");
    detail::gather_window<Axis>(src, index, dst, share);
  } else {
    using F = detail::FragmentOf<D>;
    static_assert(detail::is_register_v<D>, "ops::gather: the result is a register fragment or a window");
    static_assert(F::valid,
                  "ops::gather: the modes of the shard layout must factor the logical extents in order");
    static_assert(Src::rank == F::axes && Axis < F::axes, "ops::gather: the source must have dst's axes");
    if constexpr (!detail::is_window<Index>::value) detail::check_operand<D, Index>();
    constexpr int n = detail::gather_pack<Axis, Src, Index, D>();
    auto const axes = cute::make_seq<F::axes>{};
    if constexpr (n > 1) {
      if (src.aligned(n)) {
        detail::gather_fragment<n, Axis>(src, index, dst, axes);
        return;
      }
    }
    detail::gather_fragment<1, Axis>(src, index, dst, axes);
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
