// The kernels of kernels.h, and host functions that start them on a stream. Each returns the CUDA error.
#include <cstring>

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
__global__ void __launch_bounds__(kThreads) from_fp8(const __grid_constant__ Vectors args) {
  map_vectors<float_e4m3_t, bfloat16_t, false>(args, [](auto& a, auto&, auto& out) { ops::cast(a, out); });
}
__global__ void __launch_bounds__(kThreads) exponential_f32(const __grid_constant__ Vectors args) {
  map_vectors<float, float, false>(args, [](auto& a, auto&, auto& out) { ops::unary(op::exp{}, a, out); });
}
__global__ void __launch_bounds__(kThreads) sum_f16(const __grid_constant__ Vectors args) {
  map_vectors<half_t, half_t, true>(args,
                                    [](auto& a, auto& b, auto& out) { ops::binary(op::add{}, a, b, out); });
}
__global__ void __launch_bounds__(kThreads) row_sums(const __grid_constant__ Rows args) {
  reduce_rows<bfloat16_t, op::sum>(args);
}
__global__ void __launch_bounds__(kThreads) row_maxima(const __grid_constant__ Rows args) {
  reduce_rows<float, op::max>(args);
}
__global__ void __launch_bounds__(kThreads) rms_norm(const __grid_constant__ RowMap args) {
  normalise_rows<bfloat16_t>(args);
}
__global__ void __launch_bounds__(kThreads) softmax(const __grid_constant__ RowMap args) {
  softmax_rows<bfloat16_t>(args);
}
__global__ void __launch_bounds__(kThreads, 1) products(const __grid_constant__ Products args) {
  multiply<bfloat16_t>(args);
}
__global__ void __launch_bounds__(kThreads, 1) products_fp8(const __grid_constant__ Products args) {
  multiply<float_e4m3_t>(args);
}

constexpr int kRowShared = kThreads / 32 * 4;

template <class Args>
static int start(void (*kernel)(Args), Args const& args, int64_t grid, int shared, void* stream) {
  cudaError_t const error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (error != cudaSuccess) return error;
  kernel<<<static_cast<unsigned>(grid), kThreads, shared, static_cast<cudaStream_t>(stream)>>>(args);
  return cudaGetLastError();
}

/// `op` is a name of bench.py's; the tensors are flat, their extent a multiple of kVector.
extern "C" int device_ops_vectors(char const* op, void const* args, void* stream) {
  struct {
    char const* name;
    void (*kernel)(Vectors);
  } const kernels[] = {{"copy", copy},         {"exp", exponential},         {"add", sum},
                       {"widen", widen},       {"narrow", narrow},           {"to fp8", to_fp8},
                       {"from fp8", from_fp8}, {"exp f32", exponential_f32}, {"add f16", sum_f16}};
  auto const& vectors = *static_cast<Vectors const*>(args);
  for (auto const& known : kernels) {
    if (std::strcmp(known.name, op) == 0) {
      return start(known.kernel, vectors, vectors.a.shape[0] / kVector, 0, stream);
    }
  }
  return cudaErrorInvalidValue;
}

/// `op` is sum, of bf16, or max, of f32.
extern "C" int device_ops_rows(char const* op, void const* args, void* stream) {
  auto const& rows = *static_cast<Rows const*>(args);
  return start(std::strcmp(op, "sum") == 0 ? row_sums : row_maxima, rows, rows.in.shape[0], kRowShared,
               stream);
}

/// `op` is rms_norm or softmax.
extern "C" int device_ops_row_map(char const* op, void const* args, void* stream) {
  auto const& map = *static_cast<RowMap const*>(args);
  auto const kernel = std::strcmp(op, "rms_norm") == 0 ? rms_norm : softmax;
  return start(kernel, map, map.in.shape[0], kRowShared, stream);
}

/// @param type bf16 or fp8
/// @param out (128 * processors, 256) f32
extern "C" int device_ops_products(char const* type, void const* out, int64_t steps, void* stream) {
  Products const args{*static_cast<GlobalArg<2> const*>(out), steps};
  return start(std::strcmp(type, "bf16") == 0 ? products : products_fp8, args, args.out.shape[0] / 128,
               kProductShared, stream);
}

}  // namespace device_ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
