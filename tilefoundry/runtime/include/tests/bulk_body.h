// A kernel that moves tiles through pipelines on both targets and records the shared memory byte for byte:
// what bulk copies of a GPU write must be what the CPU's instances write.
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}
namespace bulkcheck {
using namespace cute;

/// Boxes of two axes and the swizzle of their rows.
struct MapSpec {
  int box[2];
  int bits;
};
constexpr MapSpec kMaps[] = {{{64, 64}, 3}, {{32, 128}, 3}, {{16, 32}, 2}, {{64, 32}, 1},  {{16, 24}, 0},
                             {{40, 64}, 0}, {{1, 64}, 3},   {{8, 192}, 3}, {{300, 64}, 3}, {{8, 512}, 0}};
constexpr int kMapCount = 10;

/// Boxes of other ranks and elements.
constexpr int kCubeBox[] = {2, 16, 32}, kLineBox[] = {512};

struct Args {
  GlobalArg<2> in;    // uint16, any extents
  GlobalArg<2> out;   // extents of `in`: written through boxes
  GlobalArg<1> log;   // uint16
  GlobalArg<3> cube;  // f32
  GlobalArg<1> line;  // int8
  TensorMap cube_map, line_map;
  TensorMap in_maps[kMapCount];
  TensorMap out_maps[kMapCount];
};

constexpr bool kCollective = true;
constexpr int kThreads = 128;
constexpr int kStages = 2;
constexpr int kTileBytes = 40960;
constexpr int kSharedBytes = kStages * kTileBytes + 16 * kStages;

template <int Index>
struct Tile {
  static constexpr int rows = kMaps[Index].box[0], columns = kMaps[Index].box[1], bits = kMaps[Index].bits;
  static constexpr int width = bits == 0 ? (columns > 256 ? 256 : columns) : 8 << bits;
  using Box = Shape<Int<rows>, Int<columns>>;
  using Logical = Layout<Box, Stride<Int<columns>, _1>>;
  using Storage =
      Layout<Shape<Int<rows>, Int<columns / width>, Int<width>>, Stride<Int<width>, Int<width * rows>, _1>>;
  using Order = Swizzle<bits, 4, 3>;
  TILEFOUNDRY_DEVICE static auto at(int stage) {
    return shared_tensor<uint16_t, Order>(cta_shared() + stage * kTileBytes, Logical{}, Storage{});
  }
};

/// Loads one box at each coordinate, by `Producer` for `Consumer`, and records every element where it lies.
template <int Index, class Producer, class Consumer, class Map>
TILEFOUNDRY_DEVICE uint16_t* record_loads(Map const& map, uint16_t* log) {
  using T = Tile<Index>;
  int const coordinates[][2] = {{0, 0}, {16, 64}, {40, 64}, {-8, -24}, {1000, 0}, {3, 5}};
  constexpr int count = 6, size = T::rows * T::columns;
  Pipeline<kStages, Producer, Consumer> pipe(cta_shared() + kStages * kTileBytes);
  for (int n = 0; n < count + 1; ++n) {
    if (Producer::contains() && n < count) {
      pipe.acquire();
      ops::tile_load(map, make_coord(coordinates[n][0], coordinates[n][1]), T::at(pipe.loading()), pipe);
      pipe.commit();
    }
    if (Consumer::contains() && n > 0) {
      pipe.wait();
      uint16_t const* const tile = T::at(pipe.reading()).data();
      for (int i = Consumer::rank(); i < size; i += Consumer::count) log[(n - 1) * size + i] = tile[i];
      pipe.release();
    }
  }
  pipe.drain();
  return log + count * size;
}

struct Start {
  int row, column;
};

/// Fills a tile with numbers of its own and stores it: at once by all, and started by a slice.
template <int Index, class Map>
TILEFOUNDRY_DEVICE void store_boxes(Map const& map) {
  using T = Tile<Index>;
  using Mover = ThreadSlice<32, 64>;
  auto tile = T::at(0);
  for (int i = program_id<TopologyScope::thread>(); i < T::rows * T::columns; i += kThreads) {
    tile.data()[i] = static_cast<uint16_t>(i * 31 + Index);
  }
  ops::sync<SyncKind::cta>();
  ops::tile_store(map, make_coord(16 * Index, 8 * Index), tile);
  if (Mover::contains()) {
    ops::tile_store_issue<Mover>(map, make_coord(60, 200 + 40 * Index), tile);
    ops::tile_store_wait();
  }
  ops::sync<SyncKind::cta>();
  // From before the tensor on, along either axis and both.
  constexpr Start starts[] = {{-3, 8}, {2, -8}, {-5, -16}};
  for (Start const& start : starts) {
    ops::tile_store(map, make_coord(start.row, start.column), tile);
    ops::sync<SyncKind::cta>();
  }
}

template <bool Vector, int Index>
TILEFOUNDRY_DEVICE void check_map(Args const& args, uint16_t* log) {
  using T = Tile<Index>;
  auto const shape = make_shape(args.in.shape[0], args.in.shape[1]);
  auto const in = global_tensor<uint16_t, Vector>(args.in, shape);
  auto const out = global_tensor<uint16_t, Vector>(args.out, shape);
  auto const map = make_tile_map<typename T::Box, typename T::Order>(in, args.in_maps[Index]);
  log = record_loads<Index, ThreadSlice<0, 32>, ThreadSlice<0, 128>>(map, log);
  log = record_loads<Index, ThreadSlice<96, 32>, ThreadSlice<0, 64>>(map, log);
  record_loads<Index, ThreadSlice<0, 128>, ThreadSlice<5, 1>>(make_tile_map<typename T::Box>(in), log);
  store_boxes<Index>(make_tile_map<typename T::Box, typename T::Order>(out, args.out_maps[Index]));
}

/// Loads one box into a tile and records its bytes.
template <class Map, class Coord, class T>
TILEFOUNDRY_DEVICE uint16_t* record_box(Map const& map, Coord const& coord, T tile, uint16_t* log) {
  Pipeline<kStages, ThreadSlice<0, 32>, ThreadSlice<0, 128>> pipe(cta_shared() + kStages * kTileBytes);
  if (ThreadSlice<0, 32>::contains()) {
    pipe.acquire();
    ops::tile_load(map, coord, tile, pipe);
    pipe.commit();
  }
  pipe.wait();
  constexpr int count = decltype(cute::size(typename T::global_layout_type{}))::value *
                        static_cast<int>(sizeof(typename T::value_type)) / 2;
  auto const* const words = reinterpret_cast<uint16_t const*>(tile.data());
  for (int i = program_id<TopologyScope::thread>(); i < count; i += kThreads) log[i] = words[i];
  pipe.release();
  pipe.drain();
  return log + count;
}

template <bool Vector>
TILEFOUNDRY_DEVICE void check_ranks(Args const& args, uint16_t* log) {
  using Cube = Layout<Shape<_2, _16, _32>, Stride<Int<512>, _32, _1>>;
  auto const cube = make_tile_map<Shape<_2, _16, _32>, Swizzle<3, 4, 3>>(
      global_tensor<float, Vector>(args.cube,
                                   make_shape(args.cube.shape[0], args.cube.shape[1], args.cube.shape[2])),
      args.cube_map);
  auto const cubes = shared_tensor<float, Swizzle<3, 4, 3>>(cta_shared(), Cube{}, Cube{});
  log = record_box(cube, make_coord(0, 0, 0), cubes, log);
  log = record_box(cube, make_coord(2, 8, 32), cubes, log);
  log = record_box(cube, make_coord(-1, -3, 4), cubes, log);
  using Line = Layout<Shape<Int<512>>, Stride<_1>>;
  auto const line = make_tile_map<Shape<Int<512>>>(
      global_tensor<int8_t, Vector>(args.line, make_shape(args.line.shape[0])), args.line_map);
  auto const lines = shared_tensor<int8_t>(cta_shared(), Line{}, Line{});
  log = record_box(line, make_coord(0), lines, log);
  log = record_box(line, make_coord(1008), lines, log);
  log = record_box(line, make_coord(1009), lines, log);
}

/// One map's part of the test; kMapCount is the part of the other ranks.
template <bool Vector, int Index>
TILEFOUNDRY_DEVICE void body(Args const& args) {
  auto* const log = static_cast<uint16_t*>(args.log.data);
  if constexpr (Index == kMapCount) {
    check_ranks<Vector>(args, log);
  } else {
    check_map<Vector, Index>(args, log);
  }
}

}  // namespace bulkcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
