// Describing a tensor and the boxes of bulk copies to the driver: what make_tile_map takes on the device.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tilefoundry/runtime/core/bulk_box.h"

namespace tilefoundry::host {

/// Makes the tensor map of copies of `copy` (see bulk_box), innermost axis last.
/// @param encode the driver's function
/// @param strides in elements; those of axes of extent 1 say nothing
/// @return whether bulk copies reach the tensor: it has elements and at most 5 axes, the innermost stride is
///   1, base and other strides are multiples of 16 bytes, and the driver accepts its extents. Otherwise the
///   kernel's general variant does.
inline bool make_tensor_map(decltype(&::cuTensorMapEncodeTiled) encode, TensorMap& map, void* data, int rank,
                            const int64_t* shape, const int64_t* strides, int element_bytes, int swizzle_bits,
                            const BulkBox& copy) {
  if (!copy.valid || rank != copy.rank || reinterpret_cast<uintptr_t>(data) % 16 != 0) return false;
  if (shape[rank - 1] != 1 && strides[rank - 1] != 1) return false;
  cuuint64_t extents[kBulkRank], pitches[kBulkRank];
  cuuint32_t box[kBulkRank], steps[kBulkRank];
  for (int i = 0; i < rank; ++i) {  // the driver's axes begin with the innermost
    const int axis = rank - 1 - i;
    if (shape[axis] < 1 || shape[axis] > int64_t{1} << 31) return false;
    const int64_t pitch = shape[axis] == 1 ? 16 : strides[axis] * element_bytes;
    if (i > 0 && (pitch <= 0 || pitch % 16 != 0)) return false;
    extents[i] = static_cast<cuuint64_t>(shape[axis]);
    box[i] = static_cast<cuuint32_t>(copy.extent[axis]);
    steps[i] = 1;
    if (i > 0) pitches[i - 1] = static_cast<cuuint64_t>(pitch);
  }
  // Elements are moved as they are; their type would matter for arithmetic on the way only.
  const CUtensorMapDataType type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                        : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  constexpr CUtensorMapSwizzle kSwizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                              CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= alignof(CUtensorMap),
                "kernels take the driver's record");
  return encode(reinterpret_cast<CUtensorMap*>(map.bytes), type, static_cast<cuuint32_t>(rank), data, extents,
                pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, kSwizzles[swizzle_bits],
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace tilefoundry::host
