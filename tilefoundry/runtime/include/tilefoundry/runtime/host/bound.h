// One argument after it was checked, and what launches ask of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tilefoundry/runtime/host/dtype.h"
#include "tilefoundry/runtime/host/spec.h"

namespace tilefoundry::host {

/// A tensor argument (byte offset applied, strides in elements, size-1 axes given C-order strides) or the
/// bits of a rank-0 input.
struct Bound {
  char* data;
  int rank;
  int64_t elements;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];
  uint64_t scalar;
};

/// What a kernel sees of a tensor in global memory; the device side declares the same record.
template <int Rank>
struct TensorArg {
  void* data;
  int64_t shape[Rank];
  int64_t stride[Rank];
};

template <>
struct TensorArg<0> {
  void* data;
};

template <int Rank>
TensorArg<Rank> tensor_arg(const Bound& bound) {
  TensorArg<Rank> arg;
  arg.data = bound.data;
  if constexpr (Rank > 0) {
    std::copy_n(bound.shape, Rank, arg.shape);
    std::copy_n(bound.strides, Rank, arg.stride);
  }
  return arg;
}

/// The value of a rank-0 input. `T` has the size of the declared dtype; 16-bit floats travel as uint16_t.
template <class T>
T scalar_arg(const Bound& bound) {
  T value;
  std::memcpy(&value, &bound.scalar, sizeof(T));
  return value;
}

/// Whether 16-byte accesses along the innermost axis are right: unit stride there, and base and rows aligned.
inline bool is_vectorizable(const Bound& bound, DLDataType dtype) {
  constexpr uint64_t kVectorBytes = 16;
  if (bound.rank == 0 || bound.elements == 0) return true;
  uint64_t bits = reinterpret_cast<uintptr_t>(bound.data);
  for (int k = 0; k + 1 < bound.rank; ++k) {
    if (bound.shape[k] != 1) bits |= static_cast<uint64_t>(bound.strides[k] * dtype_bytes(dtype));
  }
  return bound.strides[bound.rank - 1] == 1 && bits % kVectorBytes == 0;
}

/// Whether none of `count` tensors has an element.
inline bool all_empty(const Bound* tensors, int count) {
  return std::all_of(tensors, tensors + count, [](const Bound& t) { return t.elements == 0; });
}

/// "(2, 3)" for messages.
inline std::string tuple_text(const int64_t* values, int count) {
  std::string text = "(";
  for (int k = 0; k < count; ++k) text += (k ? ", " : "") + std::to_string(values[k]);
  return text + (count == 1 ? ",)" : ")");
}

}  // namespace tilefoundry::host
