#include "tests/cuda_toolchain/rules/axpy.h"

#include <gtest/gtest.h>

#include <vector>

namespace cuda_toolchain {
namespace {

// Without a GPU this shows that the library links and registers its kernels, and that the call comes back
// with an error.
TEST(AxpyTest, ComputesOrNamesTheMissingDevice) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    EXPECT_NE(axpy(2.0f, nullptr, nullptr, 1, nullptr), cudaSuccess);
    return;
  }
  std::vector<float> x(1000, 3.0f), y(1000, 1.0f);
  size_t bytes = x.size() * sizeof(float);
  void *device_x = nullptr, *device_y = nullptr;
  ASSERT_EQ(cudaMalloc(&device_x, bytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device_y, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(axpy(2.0f, static_cast<float*>(device_x), static_cast<float*>(device_y), 1000, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(y, std::vector<float>(1000, 7.0f));
  EXPECT_EQ(cudaFree(device_x), cudaSuccess);
  EXPECT_EQ(cudaFree(device_y), cudaSuccess);
}

}  // namespace
}  // namespace cuda_toolchain
