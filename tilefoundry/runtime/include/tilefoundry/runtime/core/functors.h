// Functor tags of the elementwise and reduction families. They compute in an element's compute type: f32 for
// small floats. Integer arithmetic wraps; NaN propagates through min, max, relu and clamp as in torch.
#pragma once

#include <tilefoundry/runtime/core/numeric.h>
#include <tilefoundry/runtime/core/program.h>

#include <cmath>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The type in which integer arithmetic wraps without undefined behaviour.
template <class T, bool Integer = std::is_integral<T>::value && !std::is_same<T, bool>::value>
struct wrapping {
  using type = T;
};
template <class T>
struct wrapping<T, true> {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <class T>
using wrapping_t = typename wrapping<T>::type;

template <class T>
TILEFOUNDRY_DEVICE void check_divisor(T divisor) {
  if constexpr (std::is_integral<T>::value) {
    if (divisor == T(0)) target::integer_division_by_zero();
  }
}

template <class T>
TILEFOUNDRY_DEVICE bool is_negative(T x) {
  if constexpr (std::is_unsigned<T>::value) {
    return false;
  } else {
    return x < T(0);
  }
}

/// a to the power of b. gcc takes a square root for an exponent of 0.5 where it vectorises, signs and all: it
/// gets one for which that is right.
template <class T>
TILEFOUNDRY_DEVICE T power(T a, T b) {
  static_assert(std::is_floating_point<T>::value,
                "op::pow: integers have no powers for negative exponents; cast to a float first");
#if !defined(__CUDA_ARCH__)
  if (b == T(0.5)) return a == -std::numeric_limits<T>::infinity() ? -a : std::sqrt(a + T(0));
#endif
  return std::pow(a, b);
}

template <class T>
TILEFOUNDRY_DEVICE T truncated_div(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_signed<T>::value) {
    // The quotient of the least value by -1 overflows (and traps on x86); negation wraps.
    if (b == T(-1)) return static_cast<T>(wrapping_t<T>(0) - static_cast<wrapping_t<T>>(a));
  }
  return static_cast<T>(a / b);
}

}  // namespace detail

namespace op {

#define TILEFOUNDRY_BINARY_OP(name, expression)          \
  struct name {                                          \
    template <class T>                                   \
    TILEFOUNDRY_DEVICE auto operator()(T a, T b) const { \
      using W [[maybe_unused]] = detail::wrapping_t<T>;  \
      return expression;                                 \
    }                                                    \
  };

TILEFOUNDRY_BINARY_OP(add, static_cast<T>(static_cast<W>(a) + static_cast<W>(b)))
TILEFOUNDRY_BINARY_OP(sub, static_cast<T>(static_cast<W>(a) - static_cast<W>(b)))
TILEFOUNDRY_BINARY_OP(mul, static_cast<T>(static_cast<W>(a) * static_cast<W>(b)))
TILEFOUNDRY_BINARY_OP(eq, a == b)
TILEFOUNDRY_BINARY_OP(ne, a != b)
TILEFOUNDRY_BINARY_OP(lt, a < b)
TILEFOUNDRY_BINARY_OP(le, a <= b)
TILEFOUNDRY_BINARY_OP(gt, a > b)
TILEFOUNDRY_BINARY_OP(ge, a >= b)
TILEFOUNDRY_BINARY_OP(logical_and, a&& b)
TILEFOUNDRY_BINARY_OP(logical_or, a || b)
TILEFOUNDRY_BINARY_OP(pow, detail::power(a, b))
#undef TILEFOUNDRY_BINARY_OP

struct div {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral<T>::value) {
      return detail::truncated_div(a, b);
    } else {
      return a / b;
    }
  }
};

struct floor_div {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral<T>::value) {
      T const q = detail::truncated_div(a, b);
      return static_cast<T>(
          b != T(-1) && a % b != T(0) && detail::is_negative(a) != detail::is_negative(b) ? q - 1 : q);
    } else {
      // By way of the remainder, which is exact, as torch: a / b may round up to the next integer.
      if (b == T(0)) return a / b;
      T const r = std::fmod(a, b);
      T const q = (a - r) / b - (r != T(0) && detail::is_negative(r) != detail::is_negative(b) ? T(1) : T(0));
      T const below = std::floor(q);
      return q == T(0) ? std::copysign(T(0), a / b) : q - below > T(0.5) ? below + T(1) : below;
    }
  }
};

/// The remainder with the divisor's sign.
struct mod {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral<T>::value) {
      detail::check_divisor(b);
      if (std::is_signed<T>::value && b == T(-1)) return T(0);  // traps on x86 for the least value
      T const r = static_cast<T>(a % b);
      return static_cast<T>(r != T(0) && detail::is_negative(r) != detail::is_negative(b) ? r + b : r);
    } else {
      T const r = std::fmod(a, b);
      return r != T(0) && detail::is_negative(r) != detail::is_negative(b) ? r + b : r;
    }
  }
};

struct max {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same<T, float>::value) {
      return target::max_nan(a, b);
    } else {
      return a != a ? a : b != b ? b : a < b ? b : a;
    }
  }
};

struct min {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same<T, float>::value) {
      return target::min_nan(a, b);
    } else {
      return a != a ? a : b != b ? b : b < a ? b : a;
    }
  }
};

#define TILEFOUNDRY_UNARY_OP(name, expression)      \
  struct name {                                     \
    template <class T>                              \
    TILEFOUNDRY_DEVICE auto operator()(T x) const { \
      return expression;                            \
    }                                               \
  };

TILEFOUNDRY_UNARY_OP(identity, x)
TILEFOUNDRY_UNARY_OP(square, mul{}(x, x))
TILEFOUNDRY_UNARY_OP(relu, detail::is_negative(x) ? T(0) : x)
TILEFOUNDRY_UNARY_OP(logical_not, !x)
TILEFOUNDRY_UNARY_OP(exp, std::exp(x))
TILEFOUNDRY_UNARY_OP(exp2, std::exp2(x))
TILEFOUNDRY_UNARY_OP(exp2_ftz, target::exp2_ftz(x))  // zero below the normal numbers: one instruction
TILEFOUNDRY_UNARY_OP(log, std::log(x))
TILEFOUNDRY_UNARY_OP(log2, std::log2(x))
TILEFOUNDRY_UNARY_OP(log1p, std::log1p(x))
TILEFOUNDRY_UNARY_OP(sqrt, std::sqrt(x))
TILEFOUNDRY_UNARY_OP(rsqrt, T(1) / std::sqrt(x))
TILEFOUNDRY_UNARY_OP(sin, std::sin(x))
TILEFOUNDRY_UNARY_OP(cos, std::cos(x))
TILEFOUNDRY_UNARY_OP(tanh, std::tanh(x))
TILEFOUNDRY_UNARY_OP(erf, std::erf(x))
TILEFOUNDRY_UNARY_OP(sigmoid, T(1) / (T(1) + std::exp(-x)))
TILEFOUNDRY_UNARY_OP(isnan, std::isnan(x))
TILEFOUNDRY_UNARY_OP(isinf, std::isinf(x))
#undef TILEFOUNDRY_UNARY_OP

struct neg {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral<T>::value) {
      return sub{}(T(0), x);
    } else {
      return -x;
    }
  }
};

// By way of f64, integers of 64 bits would change.
#define TILEFOUNDRY_ROUNDING_OP(name, function)       \
  struct name {                                       \
    template <class T>                                \
    TILEFOUNDRY_DEVICE T operator()(T x) const {      \
      if constexpr (std::is_floating_point<T>::value) \
        return function(x);                           \
      else                                            \
        return x;                                     \
    }                                                 \
  };

TILEFOUNDRY_ROUNDING_OP(ceil, std::ceil)
TILEFOUNDRY_ROUNDING_OP(floor, std::floor)
TILEFOUNDRY_ROUNDING_OP(round, std::rint)  // halves to even
#undef TILEFOUNDRY_ROUNDING_OP

struct abs {
  template <class T>
  TILEFOUNDRY_DEVICE T operator()(T x) const {
    if constexpr (std::is_floating_point<T>::value) {
      return std::fabs(x);
    } else {
      return detail::is_negative(x) ? neg{}(x) : x;
    }
  }
};

/// Tags of ops::reduce besides max and min.
struct sum {};
struct mean {};
struct prod {};
struct absmax {};  ///< the largest |x|
struct any {};
struct all {};
struct argmax {};  ///< where the first of the greatest elements is
struct argmin {};

}  // namespace op
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
