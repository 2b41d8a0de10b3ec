// argmax and argmin: partial results are values with their places along the axis. Of two equal ones the one
// that lies first wins, so that a result does not depend on how the layouts group the elements.
#pragma once

#include <tilefoundry/runtime/core/reduce_plan.h>
#include <tilefoundry/runtime/core/reducers.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// A value and its logical coordinate along the axis that is searched.
template <class T>
struct Placed {
  T value;
  int place;
};

template <class Src, class Dst>
struct PlacedIn {
  static_assert(std::is_integral<Dst>::value && std::is_signed<Dst>::value && sizeof(Dst) >= 4,
                "ops::reduce: argmax and argmin give indices; the elements of dst must be i32 or i64");
  using type = Placed<compute_t<Src>>;
};

template <class Reduced>
struct SearchedAxis {
  static_assert(sizeof(Reduced) == 0, "ops::reduce: argmax and argmin search exactly one axis");
};
template <int Axis>
struct SearchedAxis<Axes<Axis>> {
  static constexpr int value = Axis;
};

/// The first of the elements that no other one is `Better` than; NaN is better than any number.
template <class Better>
struct FirstBest {
  template <class Src, class Dst>
  using accumulator = typename PlacedIn<Src, Dst>::type;

  template <class T>
  TILEFOUNDRY_DEVICE static bool beats(T x, T y) {
    return y == y && (x != x || Better{}(x, y));
  }
  template <class T>
  TILEFOUNDRY_DEVICE static Placed<T> combine(Placed<T> a, Placed<T> b) {
    bool const takes_b = beats(b.value, a.value) || (!beats(a.value, b.value) && b.place < a.place);
    return takes_b ? b : a;
  }
  template <class T>
  TILEFOUNDRY_DEVICE static Placed<T> exchange(Placed<T> x, int distance, unsigned members) {
    return {target::shuffle_xor(x.value, distance, members), target::shuffle_xor(x.place, distance, members)};
  }
  template <class T>
  TILEFOUNDRY_DEVICE static int finish(Placed<T> x, int) {
    return x.place;
  }
};

template <>
struct Reducer<op::argmax> : FirstBest<op::gt> {};
template <>
struct Reducer<op::argmin> : FirstBest<op::lt> {};

/// Searches what an instance itself holds, which lies in order: only a better element replaces one.
template <class Plan, class Reducer, class Src, class T, int N>
TILEFOUNDRY_DEVICE void reduce_own(Src const& src, Placed<T> (&acc)[N]) {
  using F = typename Plan::F;
  constexpr int axis = SearchedAxis<typename Plan::Reduced>::value;
  auto const part = local(src);
  int const origin = F::template origin<axis>(src.shard_layout.mesh.local_index());
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < N; ++i) {
    acc[i] = {convert<T>(part.data()[Plan::kept_offsets()(i)]), 0};
    TILEFOUNDRY_UNROLL
    for (int j = 1; j < Plan::reduced; ++j) {
      T const x = convert<T>(part.data()[Plan::kept_offsets()(i) + Plan::reduced_offsets()(j)]);
      if (Reducer::beats(x, acc[i].value)) acc[i] = {x, F::template axis_steps<axis>()(j)};
    }
    acc[i].place += origin;
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
