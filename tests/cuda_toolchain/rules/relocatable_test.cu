#include <gtest/gtest.h>

#include "tests/cuda_toolchain/rules/relocatable.h"

namespace cuda_toolchain {
namespace {

// Without a GPU this shows that device code of three files links and registers.
TEST(RelocatableTest, ComputesOrNamesTheMissingDevice) {
  int devices = 0, result = 0;
  bool present = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  cudaError_t error = relocatable(5, &result);
  if (present) {
    EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
    EXPECT_EQ(result, 21);
  } else {
    EXPECT_NE(error, cudaSuccess);
  }
}

}  // namespace
}  // namespace cuda_toolchain
