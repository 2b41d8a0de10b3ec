#include "tests/cuda_toolchain/rules/scale.h"

namespace cuda_toolchain {

__global__ void scale_three_kernel(int* value) { *value *= 3; }

const void* scale_three() { return reinterpret_cast<const void*>(&scale_three_kernel); }

}  // namespace cuda_toolchain
