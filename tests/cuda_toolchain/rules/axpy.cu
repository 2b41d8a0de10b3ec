#include <cute/tensor.hpp>

#include "tests/cuda_toolchain/rules/axpy.h"

namespace cuda_toolchain {

template <class Layout>
__global__ void axpy_kernel(float a, const float* x, float* y, Layout layout) {
  auto tx = cute::make_tensor(cute::make_gmem_ptr(x), layout);
  auto ty = cute::make_tensor(cute::make_gmem_ptr(y), layout);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < cute::size(layout)) ty(i) = a * tx(i) + ty(i);
}

cudaError_t axpy(float a, const float* x, float* y, int n, cudaStream_t stream) {
  axpy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(a, x, y, cute::make_layout(n));
  return cudaGetLastError();
}

}  // namespace cuda_toolchain
