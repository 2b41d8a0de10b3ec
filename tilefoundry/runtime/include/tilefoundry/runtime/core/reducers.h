// What a reduction computes: its accumulator type, how partial results combine and how lanes of a warp
// exchange them.
#pragma once

#include <tilefoundry/runtime/core/functors.h>

#include <limits>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Integers accumulate in 32 bits, or in 64 where the source or the result has them, and in the order that
/// their own sign gives them.
template <class Src, class Dst>
using integer_accumulator_t =
    std::conditional_t<std::is_unsigned<Src>::value && !std::is_same<Src, bool>::value,
                       std::conditional_t<sizeof(Src) == 8 || sizeof(Dst) == 8, uint64_t, uint32_t>,
                       std::conditional_t<sizeof(Src) == 8 || sizeof(Dst) == 8, int64_t, int32_t>>;

/// Type in which values accumulate.
template <class Src, class Dst>
using accumulator_t =
    std::conditional_t<is_float_v<Src>, compute_t<Src>,
                       std::conditional_t<std::is_same<Src, bool>::value && std::is_same<Dst, bool>::value,
                                          int, integer_accumulator_t<Src, Dst>>>;

/// How partial results of an op combine, where they start, what an element contributes, what lanes exchange
/// and how the result ends. `accumulator` is the type of a partial result.
template <class Op>
struct Reducer {
  static_assert(sizeof(Op) == 0,
                "ops::reduce: the op is sum, mean, prod, max, min, absmax, any, all, argmax or argmin (of "
                "tilefoundry::op)");
};

template <class Combine>
struct CombineWith {
  template <class Src, class Dst>
  using accumulator = accumulator_t<Src, Dst>;

  template <class T>
  TILEFOUNDRY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(Combine{}(a, b));
  }
  template <class T>
  TILEFOUNDRY_DEVICE static T load(T x) {
    return x;
  }
  template <class T>
  TILEFOUNDRY_DEVICE static T exchange(T x, int distance, unsigned members) {
    return target::shuffle_xor(x, distance, members);
  }
  template <class T>
  TILEFOUNDRY_DEVICE static T finish(T x, int) {
    return x;
  }
};

/// Where max and min start. Data members, because device code may use their values but not call
/// std::numeric_limits.
template <class T>
struct Extremes {
  using Limits = std::numeric_limits<T>;
  static constexpr T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T greatest = Limits::has_infinity ? Limits::infinity() : Limits::max();
};

#define TILEFOUNDRY_REDUCER(name, combine_op, start)   \
  template <>                                          \
  struct Reducer<op::name> : CombineWith<combine_op> { \
    template <class T>                                 \
    TILEFOUNDRY_DEVICE static T identity() {           \
      return start;                                    \
    }

TILEFOUNDRY_REDUCER(sum, op::add, T(0))
};
TILEFOUNDRY_REDUCER(prod, op::mul, T(1))
};
TILEFOUNDRY_REDUCER(max, op::max, Extremes<T>::least)
};
TILEFOUNDRY_REDUCER(min, op::min, Extremes<T>::greatest)
}
;
TILEFOUNDRY_REDUCER(any, op::logical_or, T(0))
}
;
TILEFOUNDRY_REDUCER(all, op::logical_and, T(1))
}
;
TILEFOUNDRY_REDUCER(mean, op::add, T(0))
template <class T>
TILEFOUNDRY_DEVICE static T finish(T x, int count) {
  return x / static_cast<T>(count);
}
}
;
TILEFOUNDRY_REDUCER(absmax, op::max, T(0))
template <class T>
TILEFOUNDRY_DEVICE static T load(T x) {
  return op::abs{}(x);
}
}
;
#undef TILEFOUNDRY_REDUCER

/// The lanes of the running warp that exist.
template <class Dependent>
TILEFOUNDRY_DEVICE unsigned warp_members() {
  constexpr unsigned rest = static_program_dim<kThreadLevel<Dependent>>() % 32u;
  constexpr unsigned last = static_program_dim<kThreadLevel<Dependent>>() / 32u;
  if constexpr (rest != 0) {
    if (static_cast<unsigned>(target::thread_id()) / 32u == last) return (1u << rest) - 1u;
  }
  return 0xffffffffu;
}

template <int M, class Plan, class Reducer, class Acc, int N>
TILEFOUNDRY_DEVICE void reduce_lanes_of_axis(Acc (&acc)[N]) {
  constexpr auto axis = Plan::template axis<M>();
  if constexpr (axis.reduced && !axis.cta && axis.lanes > 1) {
    TILEFOUNDRY_UNROLL
    for (int distance = 1; distance < axis.lanes; distance *= 2) {
      TILEFOUNDRY_UNROLL
      for (int i = 0; i < N; ++i) {
        acc[i] =
            Reducer::combine(acc[i], Reducer::exchange(acc[i], axis.step * distance, warp_members<Plan>()));
      }
    }
  }
}

/// Combines the lanes of a warp that hold parts of one result; all of them get it.
template <class Plan, class Reducer, class Acc, int N, int... M>
TILEFOUNDRY_DEVICE void reduce_lanes(Acc (&acc)[N], cute::seq<M...>) {
  (reduce_lanes_of_axis<M, Plan, Reducer>(acc), ...);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
