// The kernels of kernels.h, and host functions that start them on a stream. Each returns the CUDA error.
#include <tilefoundry/runtime/host/cuda/tensor_map.h>

#include "kernels.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace device_ops {

__global__ void __launch_bounds__(kThreads) copy(const __grid_constant__ Vectors args) {
  map_vectors<bfloat16_t, bfloat16_t, false>(
      args, [](auto& a, auto&, auto& out) { ops::unary(op::identity{}, a, out); });
}
__global__ void __launch_bounds__(kThreads) exponential(const __grid_constant__ Vectors args) {
  map_vectors<bfloat16_t, bfloat16_t, false>(
      args, [](auto& a, auto&, auto& out) { ops::unary(op::exp{}, a, out); });
}
__global__ void __launch_bounds__(kThreads) sum(const __grid_constant__ Vectors args) {
  map_vectors<bfloat16_t, bfloat16_t, true>(
      args, [](auto& a, auto& b, auto& out) { ops::binary(op::add{}, a, b, out); });
}
__global__ void __launch_bounds__(kThreads) widen(const __grid_constant__ Vectors args) {
  map_vectors<bfloat16_t, float, false>(args, [](auto& a, auto&, auto& out) { ops::cast(a, out); });
}
__global__ void __launch_bounds__(kThreads) narrow(const __grid_constant__ Vectors args) {
  map_vectors<float, bfloat16_t, false>(args, [](auto& a, auto&, auto& out) { ops::cast(a, out); });
}
__global__ void __launch_bounds__(kThreads) to_fp8(const __grid_constant__ Vectors args) {
  map_vectors<bfloat16_t, float_e4m3_t, false>(args, [](auto& a, auto&, auto& out) { ops::cast(a, out); });
}
__global__ void __launch_bounds__(kThreads) row_sums(const __grid_constant__ Rows args) {
  sum_rows<bfloat16_t>(args);
}
__global__ void __launch_bounds__(kThreads, 2) bulk_copy(const __grid_constant__ Matrices args) {
  copy_in_bulk(args);
}
__global__ void __launch_bounds__(kThreads, 1) products(const __grid_constant__ Products args) {
  multiply(args);
}

template <class Args>
static int start(void (*kernel)(Args), Args const& args, int64_t grid, int shared, void* stream) {
  cudaError_t const error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (error != cudaSuccess) return error;
  kernel<<<static_cast<unsigned>(grid), kThreads, shared, static_cast<cudaStream_t>(stream)>>>(args);
  return cudaGetLastError();
}

static int processors() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}

/// `op` is a name of bench.py's; the tensors are flat, their extent a multiple of kVector.
extern "C" int device_ops_vectors(char const* op, void const* args, void* stream) {
  struct {
    char const* name;
    void (*kernel)(Vectors);
  } const kernels[] = {{"copy", copy},   {"exp", exponential}, {"add", sum},
                       {"widen", widen}, {"narrow", narrow},   {"fp8", to_fp8}};
  auto const& vectors = *static_cast<Vectors const*>(args);
  for (auto const& known : kernels) {
    if (std::strcmp(known.name, op) == 0) {
      return start(known.kernel, vectors, vectors.a.shape[0] / kVector, 0, stream);
    }
  }
  return cudaErrorInvalidValue;
}

extern "C" int device_ops_row_sums(void const* args, void* stream) {
  auto const& rows = *static_cast<Rows const*>(args);
  return start(row_sums, rows, rows.in.shape[0], kThreads / 32 * 4, stream);
}

extern "C" int device_ops_bulk_copy(void const* tensors, void* stream) {
  Matrices args;
  args.in = static_cast<GlobalArg<2> const*>(tensors)[0];
  args.out = static_cast<GlobalArg<2> const*>(tensors)[1];
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaError_t const error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  auto const make = [&](TensorMap& map, GlobalArg<2> const& arg) {
    return host::make_tensor_map(reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(encode), map, arg.data,
                                 2, arg.shape, arg.stride, 2, 0, bulk_box(2, kCopyBox, 2, 0, 1));
  };
  if (!make(args.in_map, args.in) || !make(args.out_map, args.out)) return cudaErrorInvalidValue;
  return start(bulk_copy, args, 2 * processors(), kCopyShared, stream);
}

/// @param out (128 * processors, 256) f32
extern "C" int device_ops_products(void const* out, int64_t steps, void* stream) {
  Products const args{*static_cast<GlobalArg<2> const*>(out), steps};
  return start(products, args, args.out.shape[0] / 128, kProductShared, stream);
}

}  // namespace device_ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
