// Bulk tensor copies (TMA): how the box of a tile map is cut into the boxes of single copies, and the record
// in which the driver describes one. Plain C++, because kernels and the host must agree.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define TILEFOUNDRY_BOX __host__ __device__ constexpr
#else
#define TILEFOUNDRY_BOX constexpr
#endif

namespace tilefoundry {

/// The driver's description of a tensor and a copy's box, as a kernel argument. Its content is the driver's.
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

/// Axes that a bulk copy has at most, and elements of its box along each.
inline constexpr int kBulkRank = 5;
inline constexpr int kBulkExtent = 256;

/// The box of one copy, axes as the tensor's. `shared_axis` is the axis along which the CTAs of a cluster
/// divide the tile map's box, -1 when they do not.
struct BulkBox {
  int rank = 0;
  int extent[kBulkRank] = {};
  int shared_axis = -1;
  bool valid = false;  ///< whether bulk copies can move such boxes at all
};

/// Bytes of a row of a copy under cute::Swizzle<bits, 4, 3>; 0 without a swizzle, where any multiple of 16
/// does.
TILEFOUNDRY_BOX int bulk_row_bytes(int swizzle_bits) { return swizzle_bits == 0 ? 0 : 16 << swizzle_bits; }

/// Cuts a box into copies of at most 256 elements along an axis, whose rows are those of the swizzle.
/// (CUDA driver API, cuTensorMapEncodeTiled: limits of boxDim.)
/// @param box extents of a tile map's box, innermost axis last
/// @param shares CTAs of a cluster that bring a part of the box each
TILEFOUNDRY_BOX BulkBox bulk_box(int rank, int const* box, int element_bytes, int swizzle_bits, int shares) {
  BulkBox copy;
  if (rank < 1 || rank > kBulkRank) return copy;
  copy.rank = rank;
  copy.valid = true;
  for (int axis = rank - 1; axis >= 0; --axis) {
    int extent = box[axis];
    if (axis == rank - 1 && swizzle_bits != 0) {
      extent = bulk_row_bytes(swizzle_bits) / element_bytes;
      copy.valid = copy.valid && box[axis] % extent == 0;
    }
    copy.extent[axis] = extent;
  }
  for (int axis = 0; axis + 1 < rank && copy.shared_axis < 0 && shares > 1; ++axis) {
    if (box[axis] == 1) continue;
    copy.valid = copy.valid && box[axis] % shares == 0;
    copy.extent[axis] /= shares;
    copy.shared_axis = axis;
  }
  copy.valid = copy.valid && (shares == 1 || copy.shared_axis >= 0);
  for (int axis = 0; axis < rank; ++axis) {
    while (copy.extent[axis] > kBulkExtent && copy.extent[axis] % 2 == 0) copy.extent[axis] /= 2;
    copy.valid = copy.valid && copy.extent[axis] >= 1 && copy.extent[axis] <= kBulkExtent;
  }
  copy.valid = copy.valid && copy.extent[rank - 1] * element_bytes % 16 == 0;
  return copy;
}

}  // namespace tilefoundry
