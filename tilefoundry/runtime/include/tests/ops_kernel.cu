// A part of the ops' tests for CUDA (TEST_HEADER, TEST_NAME), and a host function that launches it.
// TEST_VECTOR: 1 when the part has two variants.
#define TEST_QUOTE2(x) #x
#define TEST_QUOTE(x) TEST_QUOTE2(x)
#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)
#include TEST_QUOTE(TEST_HEADER)

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

template <bool Vector>
__global__ void __launch_bounds__(kThreads) run(const __grid_constant__ Args args) {
  auto* const log = static_cast<float*>(args.log.data);
  Recorder record{log, log + args.log.shape[0]};
  body<Vector>(args, record);
}

/// @return the CUDA error of launching and running the kernel
extern "C" int TEST_CAT(TEST_NAME, _on_gpu)(void const* args, [[maybe_unused]] bool vector) {
  auto* kernel = run<false>;
#if TEST_VECTOR
  if (vector) kernel = run<true>;
#endif
  void* const arguments[] = {const_cast<void*>(args)};
  cudaError_t const error =
      kResident ? cudaLaunchCooperativeKernel(kernel, kGrid, kThreads, const_cast<void**>(arguments),
                                              kSharedBytes, 0)
                : cudaLaunchKernel(kernel, kGrid, kThreads, const_cast<void**>(arguments), kSharedBytes, 0);
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
