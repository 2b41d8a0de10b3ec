#include "tests/cuda_toolchain/rules/quadruple.h"
#include "tests/cuda_toolchain/rules/relocatable.h"

namespace cuda_toolchain {

__global__ void increment(int* value) { *value += 1; }

// The launch from the device needs the device runtime.
__global__ void launcher(int* value) {
  *value = quadruple(*value);
  increment<<<1, 1>>>(value);
}

cudaError_t relocatable(int value, int* result) {
  int* device = nullptr;
  cudaError_t error = cudaMalloc(&device, sizeof(int));
  if (error != cudaSuccess) return error;
  error = cudaMemcpy(device, &value, sizeof(int), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) {
    launcher<<<1, 1>>>(device);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaMemcpy(result, device, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return error;
}

}  // namespace cuda_toolchain
