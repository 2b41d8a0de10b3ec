// One attention kernel for CUDA, as a generated unit, and a host function that launches it. The defaults are
// those of the cubin whose instructions a test inspects.
#ifndef TEST_NAME
#define TEST_NAME attention
#define TEST_ELEMENT bfloat16_t
#define TEST_D 64
#define TEST_CAUSAL 0
#define TILEFOUNDRY_UNIT k_attention
#define TILEFOUNDRY_TARGET_CUDA 1
#endif
#include "attention_body.h"

#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace attention {

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    TEST_CAT(TEST_NAME, __vector)(const __grid_constant__ Args args) {
  body<true>(args);
}
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    TEST_CAT(TEST_NAME, __general)(const __grid_constant__ Args args) {
  body<false>(args);
}

/// @return the CUDA error of setting up, launching and running the kernel
extern "C" int TEST_CAT(TEST_NAME, __run)(void const* args, int64_t grid, bool vector) {
  auto* const kernel = vector ? TEST_CAT(TEST_NAME, __vector) : TEST_CAT(TEST_NAME, __general);
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<static_cast<unsigned>(grid), kThreads, kSharedBytes>>>(*static_cast<Args const*>(args));
  error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace attention
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
