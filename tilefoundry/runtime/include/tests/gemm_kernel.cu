// The kernel of gemm_body.h for CUDA, and a host function that makes its tensor maps and launches it.
#ifndef TILEFOUNDRY_TARGET_CUDA  // the cubin whose instructions a test inspects
#define TILEFOUNDRY_TARGET_CUDA 1
#endif

#include <tilefoundry/runtime/host/cuda/tensor_map.h>

#include "gemm_body.h"

#ifdef GEMM_B_BY_ROWS
#define GEMM_NAME(suffix) gemm_by_rows_##suffix
#else
#define GEMM_NAME(suffix) gemm_##suffix
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace gemm {

extern "C" __global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
    GEMM_NAME(_vector)(const __grid_constant__ Args args) {
  body<true>(args);
}
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    GEMM_NAME(_general)(const __grid_constant__ Args args) {
  body<false>(args);
}

static bool make_map(TensorMap& map, GlobalArg<2> const& arg, int const* box, int shares) {
  static void* encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    return function;
  }();
  return encode != nullptr &&
         host::make_tensor_map(reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(encode), map, arg.data,
                               2, arg.shape, arg.stride, sizeof(T), kSwizzleBits,
                               bulk_box(2, box, sizeof(T), kSwizzleBits, shares));
}

/// Starts the product on a stream. The tensors are the first three fields of Args.
/// @return the CUDA error of the launch
extern "C" int GEMM_NAME(on_gpu)(void const* tensors, bool vector, void* stream) {
  Args args;
  auto const* const given = static_cast<GlobalArg<2> const*>(tensors);
  args.a = given[0];
  args.b = given[1];
  args.c = given[2];
  if (vector && !(make_map(args.a_map, args.a, kBoxA, 1) && make_map(args.b_map, args.b, kBoxB, kCluster) &&
                  make_map(args.c_map, args.c, kBoxC, 1))) {
    return cudaErrorInvalidValue;
  }
  auto const kernel = vector ? GEMM_NAME(_vector) : GEMM_NAME(_general);
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  cudaError_t const error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  int64_t const cluster = vector ? kCluster : 1;
  int64_t const tiles =
      (args.a.shape[0] + cluster * kM - 1) / (cluster * kM) * ((args.c.shape[1] + kN - 1) / kN);
  int64_t const clusters = tiles < processors / cluster ? tiles : processors / cluster;
  kernel<<<static_cast<unsigned>(clusters * cluster), kThreads, kSharedBytes,
           static_cast<cudaStream_t>(stream)>>>(args);
  return cudaGetLastError();
}

}  // namespace gemm
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
