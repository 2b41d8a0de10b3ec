// Element conversions with torch's meaning, and the type in which an element is computed.
#pragma once

#include <tilefoundry/runtime/core/config.h>

#include <cstdint>
#include <cstring>
#include <cute/numeric/numeric_types.hpp>
#include <limits>
#include <type_traits>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <class T>
struct is_small_float : std::false_type {};
template <>
struct is_small_float<cute::half_t> : std::true_type {};
template <>
struct is_small_float<cute::bfloat16_t> : std::true_type {};
template <>
struct is_small_float<cute::float_e4m3_t> : std::true_type {};
template <>
struct is_small_float<cute::float_e5m2_t> : std::true_type {};
template <>
struct is_small_float<cute::float_ue8m0_t> : std::true_type {};
/// f32 of which tensor cores see 10 bits of the mantissa.
template <>
struct is_small_float<cute::tfloat32_t> : std::true_type {};

template <class T>
inline constexpr bool is_small_float_v = is_small_float<T>::value;
template <class T>
inline constexpr bool is_float_v = is_small_float_v<T> || std::is_floating_point<T>::value;

/// Small floats are computed in f32, everything else in its own type.
template <class T>
using compute_t = std::conditional_t<is_small_float_v<T>, float, T>;

template <class To, class From>
TILEFOUNDRY_HOST_DEVICE To bit_cast(From const& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast: sizes differ");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// f16 to f32, exact. On a host the exponent is rebiased by one multiplication, which also normalises
/// subnormals.
TILEFOUNDRY_HOST_DEVICE float half_to_float(cute::half_t x) {
#if defined(__CUDA_ARCH__)
  return static_cast<float>(x);
#else
  uint32_t const bits = x.storage;
  uint32_t const magnitude = (bits & 0x7fffu) << 13;
  float const finite = bit_cast<float>(magnitude) * 0x1p112f;
  uint32_t const special = magnitude | 0x7f800000u;
  uint32_t const value = magnitude < 0x0f800000u ? bit_cast<uint32_t>(finite) : special;
  return bit_cast<float>(value | (bits & 0x8000u) << 16);
#endif
}

/// f32 to f16, round to nearest even.
TILEFOUNDRY_HOST_DEVICE cute::half_t float_to_half(float x) {
#if defined(__CUDA_ARCH__)
  return cute::half_t(x);
#else
  uint32_t const bits = bit_cast<uint32_t>(x);
  uint32_t const magnitude = bits & 0x7fffffffu;
  // Below 2^-14, adding 0.5 rounds at the unit of f16 subnormals, 2^-24.
  uint32_t const subnormal = bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t const normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  uint32_t const special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t const value = magnitude < 0x38800000u ? subnormal : magnitude < 0x47800000u ? normal : special;
  return cute::half_t::bitcast(static_cast<uint16_t>(value | (bits >> 16 & 0x8000u)));
#endif
}

/// f32 to fp8 as torch does: e4m3, which has no infinity, saturates, also from one; e5m2 goes to infinity,
/// where CUTLASS saturates. NaN stays NaN.
template <class T>
TILEFOUNDRY_HOST_DEVICE T float_to_fp8(float x) {
  constexpr bool e4m3 = std::is_same<T, cute::float_e4m3_t>::value;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if constexpr (e4m3) return T(x);  // one instruction, which saturates and keeps NaN
#endif
  uint32_t const bits = bit_cast<uint32_t>(x);
  float const magnitude = bit_cast<float>(bits & 0x7fffffffu);
  uint8_t const sign = static_cast<uint8_t>(bits >> 24 & 0x80u);
  if (x != x) return T::bitcast(static_cast<uint8_t>(sign | 0x7fu));
  if constexpr (e4m3) {
    if (magnitude >= 448.f) return T::bitcast(static_cast<uint8_t>(sign | 0x7eu));
  } else {
    if (magnitude >= 61440.f) return T::bitcast(static_cast<uint8_t>(sign | 0x7cu));
  }
  return T(x);
}

/// f32 to e8m0, an exponent without sign or mantissa, as torch does: to the nearest power of two, halves up;
/// what lies between 2^-127 and 2^-126 goes up, what lies below 2^-127 (and zero) to that, and what rounds to
/// 2^128, which is not there, to NaN. CUTLASS rounds up and saturates.
TILEFOUNDRY_HOST_DEVICE cute::float_ue8m0_t float_to_e8m0(float x) {
  uint32_t const magnitude = bit_cast<uint32_t>(x) & 0x7fffffffu;
  uint32_t const rounded = magnitude + (magnitude < 0x00800000u ? 0x3fffffu : 0x400000u);
  uint32_t const exponent = magnitude < 0x7f800000u ? rounded >> 23 : 0xffu;
  return cute::float_ue8m0_t::bitcast(static_cast<uint8_t>(exponent));
}

/// e8m0 to f32, exact: the least is below the normal numbers of f32.
TILEFOUNDRY_HOST_DEVICE float e8m0_to_float(cute::float_ue8m0_t x) {
  uint32_t const exponent = x.storage;
  return bit_cast<float>(exponent == 0 ? 0x00400000u : exponent == 0xffu ? 0x7fc00000u : exponent << 23);
}

template <class T>
struct IntegerRange {
  static constexpr T least = std::numeric_limits<T>::min();
  static constexpr T greatest = std::numeric_limits<T>::max();
};

/// Floating point to integer: towards zero, saturating, NaN to 0.
template <class To, class From>
TILEFOUNDRY_HOST_DEVICE To truncate(From x) {
  constexpr To least = IntegerRange<To>::least, greatest = IntegerRange<To>::greatest;
  if (x != x) return To(0);
  if (x <= static_cast<From>(least)) return least;
  if (x >= static_cast<From>(greatest)) return greatest;
  return static_cast<To>(x);
}

/// The element as its compute type.
template <class T>
TILEFOUNDRY_HOST_DEVICE compute_t<T> widen(T x) {
  if constexpr (std::is_same<T, cute::half_t>::value) {
    return half_to_float(x);
  } else if constexpr (std::is_same<T, cute::float_ue8m0_t>::value) {
    return e8m0_to_float(x);
  } else if constexpr (is_small_float_v<T>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

}  // namespace detail

/// One element of another type. Floats round to nearest even; to an integer they truncate and saturate, NaN
/// gives 0; integers wrap; bool is x != 0.
template <class To, class From>
TILEFOUNDRY_HOST_DEVICE To convert(From from) {
  if constexpr (std::is_same<To, From>::value) {
    return from;
  } else if constexpr (detail::is_small_float_v<From>) {
    return convert<To>(detail::widen(from));
  } else if constexpr (std::is_same<To, bool>::value) {
    return from != From(0);
  } else if constexpr (std::is_same<To, cute::half_t>::value) {
    return detail::float_to_half(static_cast<float>(from));
  } else if constexpr (std::is_same<To, cute::tfloat32_t>::value) {
    return cute::tfloat32_t(static_cast<float>(from));
  } else if constexpr (std::is_same<To, cute::bfloat16_t>::value) {
    // By way of f32 also for integers: CUTLASS's integer constructor truncates.
    return cute::bfloat16_t(static_cast<float>(from));
  } else if constexpr (std::is_same<To, cute::float_ue8m0_t>::value) {
    return detail::float_to_e8m0(static_cast<float>(from));
  } else if constexpr (detail::is_small_float_v<To>) {
    return detail::float_to_fp8<To>(static_cast<float>(from));
  } else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
    return detail::truncate<To>(from);
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
