// What an entry demands of its arguments: constant tables that the generated host source fills in.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

namespace tilefoundry::host {

/// Axes of a tensor at most; the emitter refuses more.
inline constexpr int kMaxRank = 8;

/// A dimension variable with its half-open envelope [lo, hi).
struct DimVar {
  const char* name;
  int64_t lo;
  int64_t hi;
};

/// An extent or a stride: a number, `scale * v + offset` of a dimension variable v, or the n-th value that
/// the entry's `derive` computes.
struct Extent {
  enum class Kind : uint8_t { fixed, variable, derived };
  Kind kind;
  int64_t value;  // the number, or an index
  int64_t scale = 1;
  int64_t offset = 0;
};

constexpr Extent fixed(int64_t value) { return {Extent::Kind::fixed, value}; }
constexpr Extent variable(int64_t index, int64_t scale = 1, int64_t offset = 0) {
  return {Extent::Kind::variable, index, scale, offset};
}
constexpr Extent derived(int64_t index) { return {Extent::Kind::derived, index}; }

/// One parameter. `strides` is null when any non-negative strides do; `alias` is the index of the input that
/// this output updates in place, or -1.
struct Param {
  const char* name;
  DLDataType dtype;
  int rank;
  const Extent* shape;
  const Extent* strides;
  bool output;
  int alias;
};

/// An entry: all its parameters, outputs last. `derive` fills `derived_count` values from the bound
/// variables.
struct Entry {
  const char* name;
  DLDeviceType device;
  const Param* params;
  int param_count;
  const DimVar* dims;
  int dim_count;
  void (*derive)(const int64_t* dims, int64_t* values);
  int derived_count;
};

/// Quotient rounded towards minus infinity, as dimension expressions mean it.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Remainder with the sign of the divisor, as dimension expressions mean it.
constexpr int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

}  // namespace tilefoundry::host
