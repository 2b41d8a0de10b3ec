// ops::scatter_add: atomic additions at run-time indices along one axis, to memory that all instances see, in
// no order. For additions in order, to a copy, see ops::index_add.
#pragma once

#include <tilefoundry/runtime/core/gather.h>
#include <tilefoundry/runtime/core/tile_move.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Adds one element to dst where `index` says along Axis.
template <int Axis, class T, int Rank, class Dst>
TILEFOUNDRY_DEVICE void scatter_element(int64_t index, T value, int64_t const (&where)[Rank],
                                        Dst const& dst) {
  int64_t at[Rank];
  TILEFOUNDRY_UNROLL
  for (int a = 0; a < Rank; ++a) at[a] = a == Axis ? index : where[a];
  if (!check_index(index, Axis, dst.template extent<Axis>())) return;
  if (auto const element = dst.find(at)) target::atomic_add(element, value);
}

template <int Axis, class Index, class Src, class Dst, int... A>
TILEFOUNDRY_DEVICE void scatter_fragment(Index const& index, Src const& src, Dst const& dst,
                                         cute::seq<A...>) {
  using F = FragmentOf<Src>;
  using T = typename Src::value_type;
  auto const coords = src.shard_layout.mesh.local_index();
  int const origin[] = {static_cast<int>(F::template origin<A>(coords))...};
  auto const in = elements(src);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < F::count; ++i) {
    int64_t const at[] = {(origin[A] + decltype(F::template steps<A>()){}(i))...};
    if constexpr (is_window<Index>::value) {
      scatter_element<Axis, T>(index_at<Axis>(index, at), in(i), at, dst);
    } else {
      scatter_element<Axis, T>(static_cast<int64_t>(elements(index)(i)), in(i), at, dst);
    }
  }
}

}  // namespace detail

namespace ops {

/// dst[index] += src for each element of src, along `Axis`, by atomic additions: elements that several
/// instances or CTAs add to are complete when all have run. Sums of floats depend on their order, which is
/// open; integers wrap.
///
/// An index outside of [0, extent of dst along Axis) stops the launch with an error that names it.
/// @param index of src's shape, or of rank 1 with one entry for each row of src, as ops::gather takes it
/// @param src a register fragment, of which each instance adds its own part and one replica counts, or a
/// window,
///   whose elements the instances of `share` divide
/// @param dst a window; f16, bf16, f32, f64, i32 or i64 on a GPU. Its other extents are at least those of src
template <int Axis, class Index, class Src, class Dst>
TILEFOUNDRY_DEVICE void scatter_add(Index const& index, Src const& src, Dst const& dst, cute::C<Axis>,
                                    [[maybe_unused]] Share const& share = share_of_cta<Dst>()) {
  TILEFOUNDRY_OP("scatter_add");
  static_assert(detail::is_window<Dst>::value, "ops::scatter_add: the destination must be a window");
  static_assert(std::is_same<typename Src::value_type, typename Dst::value_type>::value,
                "ops::scatter_add: source and destination types differ");
  static_assert(std::is_integral<typename Index::value_type>::value,
                "ops::scatter_add: indices must be integers");
  if constexpr (detail::is_window<Src>::value) {
    static_assert(detail::is_window<Index>::value,
                  "ops::scatter_add: a source in memory takes its indices from memory");
    static_assert(Src::rank == Dst::rank && Axis < Dst::rank, "ops::scatter_add: src and dst have one rank");
    detail::for_each_pack_of<1>(
        src, share,
        [&](auto const& at) {
          detail::scatter_element<Axis>(detail::index_at<Axis>(index, at), src.template load<1>(at).value[0],
                                        at, dst);
        },
        cute::make_seq<Src::rank>{});
  } else {
    using F = detail::FragmentOf<Src>;
    using Traits = detail::ShardTraits<typename Src::shard_layout_type>;
    static_assert(F::valid && F::axes == Dst::rank && Axis < Dst::rank,
                  "ops::scatter_add: src is a register fragment of dst's rank");
    if constexpr (!detail::is_window<Index>::value) detail::check_operand<Src, Index>();
    if (!detail::leads_replicas<Traits>(src.shard_layout.mesh.local_index(),
                                        cute::make_seq<Traits::axes>{})) {
      return;
    }
    detail::scatter_fragment<Axis>(index, src, dst, cute::make_seq<F::axes>{});
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
