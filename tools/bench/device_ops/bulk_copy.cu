// A copy of a matrix by bulk copies alone, as a kernel written by hand would be: many small CTAs, each with a
// warp that fills a ring of tiles and one that stores them.
#include <tilefoundry/runtime.h>
#include <tilefoundry/runtime/host/cuda/tensor_map.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<64>>{};
}
namespace device_ops {
using namespace cute;
using Producer = ThreadSlice<0, 32>;
using Consumer = ThreadSlice<32, 32>;

struct Matrices {
  GlobalArg<2> in, out;  // bf16, the same extents
  TensorMap in_map, out_map;
};
// Small boxes, by many CTAs of a processor at once, keep reads and writes of memory apart the least; see the
// page on GPUs for what other shapes reach.
constexpr int kThreads = 64, kCtas = 8;
constexpr int kRows = 4, kColumns = 256;
constexpr int kStages = 3;
constexpr int kBehind = 1;  // stores that may still read their tiles
constexpr int kTileBytes = kRows * kColumns * 2;
constexpr int kShared = kStages * kTileBytes + Pipeline<kStages, Producer, Consumer>::kBytes;

__global__ void __launch_bounds__(kThreads, kCtas) bulk_copy(const __grid_constant__ Matrices args) {
  using Box = Shape<Int<kRows>, Int<kColumns>>;
  using Tile = Layout<Box, Stride<Int<kColumns>, _1>>;
  auto const shape = make_shape(args.in.shape[0], args.in.shape[1]);
  auto const in = make_tile_map<Box>(global_tensor<bfloat16_t, true>(args.in, shape), args.in_map);
  auto const out = make_tile_map<Box>(global_tensor<bfloat16_t, true>(args.out, shape), args.out_map);
  int64_t const columns = (args.in.shape[1] + kColumns - 1) / kColumns;
  int64_t const tiles = (args.in.shape[0] + kRows - 1) / kRows * columns;
  int64_t const first = program_id<TopologyScope::cta>(), step = program_dim<TopologyScope::cta>();
  auto const box_at = [&](int64_t tile) {
    return make_coord(tile / columns * kRows, tile % columns * kColumns);
  };
  auto const tile_at = [](int stage) {
    return shared_tensor<bfloat16_t>(cta_shared() + stage * kTileBytes, Tile{}, Tile{});
  };
  Pipeline<kStages, Producer, Consumer> pipe(cta_shared() + kStages * kTileBytes);
  if (Producer::contains()) {
    for (int64_t t = first; t < tiles; t += step) {
      pipe.acquire();
      ops::tile_load(in, box_at(t), tile_at(pipe.loading()), pipe);
      pipe.commit();
    }
  } else if (Consumer::contains()) {
    int started = 0;
    for (int64_t t = first; t < tiles; t += step) {
      pipe.wait();
      ops::tile_store_issue<Consumer>(out, box_at(t), tile_at(pipe.reading()));
      ops::tile_store_wait<kBehind>();
      if (started++ >= kBehind) pipe.release();
    }
    ops::tile_store_wait();
    for (int i = 0; i < kBehind && i < started; ++i) pipe.release();
  }
  pipe.drain();
}

/// Starts out = in on a stream.
/// @return the CUDA error
extern "C" int device_ops_bulk_copy(void const* tensors, void* stream) {
  Matrices args;
  args.in = static_cast<GlobalArg<2> const*>(tensors)[0];
  args.out = static_cast<GlobalArg<2> const*>(tensors)[1];
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  int const box[] = {kRows, kColumns};
  auto const make = [&](TensorMap& map, GlobalArg<2> const& arg) {
    return host::make_tensor_map(reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(encode), map, arg.data,
                                 2, arg.shape, arg.stride, 2, 0, bulk_box(2, box, 2, 0, 1));
  };
  if (!make(args.in_map, args.in) || !make(args.out_map, args.out)) return cudaErrorInvalidValue;
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  error = cudaFuncSetAttribute(bulk_copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (error != cudaSuccess) return error;
  bulk_copy<<<kCtas * processors, kThreads, kShared, static_cast<cudaStream_t>(stream)>>>(args);
  return cudaGetLastError();
}

}  // namespace device_ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
