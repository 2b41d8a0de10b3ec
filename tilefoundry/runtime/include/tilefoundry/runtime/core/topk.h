// ops::topk: the first elements of an axis in order of size, and where they are. With as many as there are, a
// stable sort.
#pragma once

#include <tilefoundry/runtime/core/window.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Whether an element comes before another one: NaN counts as the greatest, and equal ones keep their order.
template <bool Largest, class T>
TILEFOUNDRY_DEVICE bool comes_before(T a, int64_t at_a, T b, int64_t at_b) {
  auto const x = widen(a), y = widen(b);
  bool const greater = y == y && (x != x || x > y), less = x == x && (y != y || x < y);
  return (Largest ? greater : less) || (!greater && !less && at_a < at_b);
}

}  // namespace detail

namespace ops {

/// Along `Axis`: values[r] and indices[r] are the element of rank r of src and its place, for each r below
/// their extent. Rank 0 is the greatest element (Largest) or the least; NaN counts as the greatest, and of
/// equal elements the first one comes first.
///
/// An element's rank is the number of those before it, so each one costs a pass over its column; elements do
/// not depend on each other.
/// @param src, values, indices windows in memory; the last two have the extents of src but for that along
/// Axis, which
///   is at most src's. src must be visible to all instances of `share`, which divide its elements
template <bool Largest, int Axis, class Src, class Values, class Indices>
TILEFOUNDRY_DEVICE void topk(Src const& src, Values const& values, Indices const& indices, cute::C<Axis>,
                             Share const& share = share_of_cta<Src>()) {
  TILEFOUNDRY_OP("topk");
  using T = typename Src::value_type;
  using I = typename Indices::value_type;
  static_assert(
      detail::is_window<Src>::value && detail::is_window<Values>::value && detail::is_window<Indices>::value,
      "ops::topk: operands are windows (make_window)");
  static_assert(Values::rank == Src::rank && Indices::rank == Src::rank && Axis < Src::rank,
                "ops::topk: src, values and indices have one rank");
  static_assert(std::is_same<T, typename Values::value_type>::value && std::is_integral<I>::value,
                "ops::topk: values have src's type, and indices are integers");
  int64_t const count = src.template extent<Axis>(), wanted = values.template extent<Axis>();
  detail::for_each_pack_of<1>(
      src, share,
      [&](auto const& where) {
        int64_t at[Src::rank];
        TILEFOUNDRY_UNROLL
        for (int a = 0; a < Src::rank; ++a) at[a] = where[a];
        auto const own = src.template load<1>(where);
        int64_t rank = 0;
        for (int64_t j = 0; j < count && rank < wanted; ++j) {
          at[Axis] = j;
          rank +=
              detail::comes_before<Largest>(src.template load<1>(at).value[0], j, own.value[0], where[Axis]);
        }
        if (rank >= wanted) return;
        at[Axis] = rank;
        values.store(at, own);
        indices.store(at, detail::Pack<I, 1>{{static_cast<I>(where[Axis])}});
      },
      cute::make_seq<Src::rank>{});
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
