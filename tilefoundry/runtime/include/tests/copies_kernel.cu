// The kernel of copies_body.h for CUDA, and a host function that launches it.
#include "copies_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace copycheck {

__global__ void __launch_bounds__(kThreads) run(const __grid_constant__ Args args) { body(args); }

/// @return the CUDA error of launching and running the kernel
extern "C" int copies_on_gpu(void const* args) {
  run<<<kCtas, kThreads, kSharedBytes>>>(*static_cast<Args const*>(args));
  cudaError_t const error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace copycheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
