// Which arguments share memory. Both questions are answered soundly: "no" is proven, anything else counts as
// yes.
#pragma once

#include <cstdint>

#include "tilefoundry/runtime/host/bound.h"

namespace tilefoundry::host {

/// Whether two elements of one tensor may share an address: a stride must step over all that smaller strides
/// reach.
inline bool overlaps_itself(const Bound& t) {
  int order[kMaxRank];  // axes by stride, ascending
  int count = 0;
  for (int k = 0; k < t.rank; ++k) {
    if (t.shape[k] == 1) continue;
    int place = count++;
    for (; place > 0 && t.strides[order[place - 1]] > t.strides[k]; --place) order[place] = order[place - 1];
    order[place] = k;
  }
  int64_t reach = 0;  // largest offset of the axes so far
  for (int n = 0; n < count; ++n) {
    const int k = order[n];
    if (t.strides[k] <= reach) return t.elements != 0;
    reach += (t.shape[k] - 1) * t.strides[k];
  }
  return false;
}

namespace internal {

/// Bytes from the first element to past the last, over axes whose stride `keep` accepts.
template <class Keep>
int64_t footprint(const Bound& t, int64_t item, Keep keep) {
  int64_t bytes = item;
  for (int k = 0; k < t.rank; ++k) {
    const int64_t stride = t.strides[k] * item;
    if (t.shape[k] != 1 && keep(stride)) bytes += (t.shape[k] - 1) * stride;
  }
  return bytes;
}

/// Proves that two tensors lie in disjoint columns of one buffer whose rows are `pitch` bytes apart.
inline bool in_disjoint_columns(const Bound& a, int64_t item_a, const Bound& b, int64_t item_b,
                                int64_t pitch) {
  const auto within_row = [pitch](int64_t stride) { return stride % pitch != 0; };
  int64_t shift = (b.data - a.data) % pitch;
  if (shift < 0) shift += pitch;
  return shift >= footprint(a, item_a, within_row) && shift + footprint(b, item_b, within_row) <= pitch;
}

}  // namespace internal

/// Whether two tensors may share an address. Slices of one buffer are told apart also where their byte ranges
/// interleave, such as two column blocks of a matrix.
inline bool may_overlap(const Bound& a, DLDataType type_a, const Bound& b, DLDataType type_b) {
  if (a.elements == 0 || b.elements == 0) return false;
  const int64_t item_a = dtype_bytes(type_a);
  const int64_t item_b = dtype_bytes(type_b);
  const auto all = [](int64_t) { return true; };
  if (a.data + internal::footprint(a, item_a, all) <= b.data) return false;
  if (b.data + internal::footprint(b, item_b, all) <= a.data) return false;
  const auto disjoint_by_axis_of = [&](const Bound& t, int64_t item) {
    for (int k = 0; k < t.rank; ++k) {
      const int64_t pitch = t.strides[k] * item;
      if (t.shape[k] != 1 && pitch > 0 && internal::in_disjoint_columns(a, item_a, b, item_b, pitch))
        return true;
    }
    return false;
  };
  return !disjoint_by_axis_of(a, item_a) && !disjoint_by_axis_of(b, item_b);
}

}  // namespace tilefoundry::host
