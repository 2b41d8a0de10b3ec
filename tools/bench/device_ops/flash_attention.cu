// The kernel of flash_attention.h, and a host function that makes its tensor maps and launches it.
#include <tilefoundry/runtime/host/cuda/tensor_map.h>

#include "flash_attention.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace flash {

template <bool Causal>
__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
    attention(const __grid_constant__ Args args) {
  body<Causal>(args);
}

/// Starts out = softmax(scale q k^T) v on a stream, with a causal mask from the first row and key on.
/// @param tensors q, k, v, out: bf16 (heads, rows, 128), rows contiguous
/// @return the CUDA error
extern "C" int device_ops_attention(void const* tensors, float scale, bool causal, void* stream) {
  Args args;
  auto const* const given = static_cast<GlobalArg<3> const*>(tensors);
  args.q = given[0];
  args.k = given[1];
  args.v = given[2];
  args.out = given[3];
  args.scale = scale * 1.44269504f;
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  auto const make = [&](TensorMap& map, GlobalArg<3> const& arg, int const* box, int shares) {
    return host::make_tensor_map(reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(encode), map, arg.data,
                                 3, arg.shape, arg.stride, sizeof(T), kSwizzleBits,
                                 bulk_box(3, box, sizeof(T), kSwizzleBits, shares));
  };
  if (!make(args.q_map, args.q, kBoxQ, 1) || !make(args.k_map, args.k, kBoxKeys, kCluster) ||
      !make(args.v_map, args.v, kBoxKeys, kCluster)) {
    return cudaErrorInvalidValue;
  }
  auto const kernel = causal ? attention<true> : attention<false>;
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  int64_t const tiles = (args.q.shape[1] + kCluster * kRows - 1) / (kCluster * kRows) * args.q.shape[0];
  int64_t const clusters = tiles < processors / kCluster ? tiles : processors / kCluster;
  kernel<<<static_cast<unsigned>(clusters * kCluster), kThreads, kSharedBytes,
           static_cast<cudaStream_t>(stream)>>>(args);
  return cudaGetLastError();
}

}  // namespace flash
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
