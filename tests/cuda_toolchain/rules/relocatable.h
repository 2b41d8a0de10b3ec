#pragma once

#include <cuda_runtime_api.h>

namespace cuda_toolchain {

// *result = 4 value + 1, by a kernel that calls device code of two other files and launches a kernel of its
// own.
cudaError_t relocatable(int value, int* result);

}  // namespace cuda_toolchain
