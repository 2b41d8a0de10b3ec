#include "tests/cuda_toolchain/rules/scale.h"

namespace cuda_toolchain {

__global__ void scale_two_kernel(int* value) { *value *= 2; }

const void* scale_two() { return reinterpret_cast<const void*>(&scale_two_kernel); }

}  // namespace cuda_toolchain
