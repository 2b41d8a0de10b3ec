// Rank-0 inputs: a number of the declared kind, brought to the bits of the declared dtype.
#pragma once

#include <tvm/ffi/any.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tilefoundry/runtime/host/dtype.h"
#include "tilefoundry/runtime/host/error.h"
#include "tilefoundry/runtime/host/spec.h"

namespace tilefoundry::host {
namespace internal {

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Rounds a double to a binary float of `exponent` and `mantissa` bits, to nearest even, in one step.
inline uint64_t round_to_float(double value, int exponent, int mantissa) {
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (exponent + mantissa) : 0;
  const uint64_t infinity = ((uint64_t{1} << exponent) - 1) << mantissa;
  if (std::isnan(value)) return sign | infinity | uint64_t{1} << (mantissa - 1);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  const int bias = (1 << (exponent - 1)) - 1;
  int e = 0;
  std::frexp(value, &e);          // |value| in [2^(e-1), 2^e)
  e = std::max(e - 1, 1 - bias);  // subnormals share the smallest exponent
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), mantissa - e));
  const uint64_t base = static_cast<uint64_t>(e + bias - 1)
                        << mantissa;  // a normal's implicit bit adds one to this
  const uint64_t bits = base + static_cast<uint64_t>(steps);
  return sign | std::min(bits, infinity);
}

inline uint64_t float_scalar(const Param& param, double value) {
  uint64_t bits = 0;
  uint64_t infinity = 0;
  if (param.dtype.code == kDLBfloat) {
    bits = round_to_float(value, 8, 7), infinity = 0x7f80;
  } else if (param.dtype.bits == 16) {
    bits = round_to_float(value, 5, 10), infinity = 0x7c00;
  } else if (param.dtype.bits == 32) {
    bits = float_bits(static_cast<float>(value)), infinity = 0x7f800000;
  } else {
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  if (std::isfinite(value) && (bits & infinity) == infinity) {
    throw_error(kArgumentValueError, "argument '", param.name, "': ", value, " is beyond the range of ",
                dtype_name(param.dtype));
  }
  return bits;
}

inline uint64_t integer_scalar(const Param& param, int64_t value) {
  const int bits = param.dtype.bits;
  const bool is_signed = param.dtype.code == kDLInt;
  const int64_t lo = is_signed ? (bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1))) : 0;
  const int64_t hi = is_signed ? (bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1)
                               : (bits == 64 ? INT64_MAX : (int64_t{1} << bits) - 1);
  if (value < lo || value > hi) {
    throw_error(kArgumentValueError, "argument '", param.name, "': ", value, " is beyond the range of ",
                dtype_name(param.dtype), " [", lo, ", ", hi, "]");
  }
  return static_cast<uint64_t>(value);  // little-endian: the low bytes are the narrow value
}

}  // namespace internal

/// The bits of a number given for a rank-0 input. A float parameter takes floats and integers, an integer
/// parameter integers, a bool parameter bools.
inline uint64_t number_to_scalar(const Param& param, const TVMFFIAny& value) {
  const bool wants_float = param.dtype.code == kDLFloat || param.dtype.code == kDLBfloat;
  const bool wants_int = param.dtype.code == kDLInt || param.dtype.code == kDLUInt;
  if (wants_float && value.type_index == kTVMFFIFloat) return internal::float_scalar(param, value.v_float64);
  if (wants_float && value.type_index == kTVMFFIInt) {
    return internal::float_scalar(param, static_cast<double>(value.v_int64));
  }
  if (wants_int && value.type_index == kTVMFFIInt) return internal::integer_scalar(param, value.v_int64);
  if (param.dtype.code == kDLBool && value.type_index == kTVMFFIBool) return value.v_int64 != 0;
  throw_error(kArgumentTypeError, "argument '", param.name, "': expected ",
              wants_float ? "a float"
              : wants_int ? "an int"
                          : "a bool",
              " (", dtype_name(param.dtype), ") or a 0-d tensor of that dtype, got ",
              ::tvm::ffi::TypeIndexToTypeKey(value.type_index));
}

}  // namespace tilefoundry::host
