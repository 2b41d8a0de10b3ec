// Prints how many GPUs there are.

#include <cuda_runtime.h>

#include <cstdio>

__global__ void noop() {}

int main() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  std::printf("%d GPUs: %s\n", count, cudaGetErrorName(error));
  noop<<<1, 1>>>();
}
