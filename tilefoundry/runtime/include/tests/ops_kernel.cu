// The kernel of ops_body.h for CUDA, and a host function that launches it.
#include "ops_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

template <bool Vector>
__global__ void __launch_bounds__(kThreads) run(const __grid_constant__ Args args) {
  body<Vector>(args);
}

/// @return the CUDA error of launching and running the kernel
extern "C" int ops_on_gpu(void const* args, bool vector) {
  (vector ? run<true> : run<false>)<<<1, kThreads, kSharedBytes>>>(*static_cast<Args const*>(args));
  cudaError_t const error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
