// The kernels of bulk_body.h for CUDA, and a host function that makes their tensor maps and launches one.
#include <tilefoundry/runtime/host/cuda/tensor_map.h>

#include "bulk_body.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace bulkcheck {

template <bool Vector, int Index>
__global__ void __launch_bounds__(kThreads) run(const __grid_constant__ Args args) {
  body<Vector, Index>(args);
}

using Kernel = void (*)(Args);
template <int... Index>
static Kernel kernel_of(bool vector, int part, cute::seq<Index...>) {
  Kernel const kernels[][2] = {{run<false, Index>, run<true, Index>}...};
  return kernels[part][vector];
}

static bool make_maps(decltype(&::cuTensorMapEncodeTiled) encode, GlobalArg<2> const& arg, TensorMap* maps) {
  for (int i = 0; i < kMapCount; ++i) {
    BulkBox const copy = bulk_box(2, kMaps[i].box, 2, kMaps[i].bits, 1);
    if (!host::make_tensor_map(encode, maps[i], arg.data, 2, arg.shape, arg.stride, 2, kMaps[i].bits, copy)) {
      return false;
    }
  }
  return true;
}

/// @return the CUDA error of launching and running the kernel
extern "C" int bulk_on_gpu(void const* args, bool vector, int part) {
  Args a = *static_cast<Args const*>(args);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  auto const function = reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(encode);
  if (vector && !(make_maps(function, a.in, a.in_maps) && make_maps(function, a.out, a.out_maps) &&
                  host::make_tensor_map(function, a.cube_map, a.cube.data, 3, a.cube.shape, a.cube.stride, 4,
                                        3, bulk_box(3, kCubeBox, 4, 3, 1)) &&
                  host::make_tensor_map(function, a.line_map, a.line.data, 1, a.line.shape, a.line.stride, 1,
                                        0, bulk_box(1, kLineBox, 1, 0, 1)))) {
    return cudaErrorInvalidValue;
  }
  Kernel const kernel = kernel_of(vector, part, cute::make_seq<kMapCount + 1>{});
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<1, kThreads, kSharedBytes>>>(a);
  error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace bulkcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
