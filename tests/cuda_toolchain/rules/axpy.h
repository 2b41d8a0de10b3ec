#pragma once

#include <cuda_runtime_api.h>

namespace cuda_toolchain {

// y = a x + y over n elements, on `stream`.
cudaError_t axpy(float a, const float* x, float* y, int n, cudaStream_t stream);

}  // namespace cuda_toolchain
