// Pipelines from a slice of the CTA to another, meshes over slices, and how boxes are cut for bulk copies.
#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_64;
constexpr int kTiles = 11, kRows = 8, kColumns = 64;
using Tile = RowMajor<kRows, kColumns>;

/// Every tile of a tall matrix passes through the stages once, in order, whatever the roles and their pace.
template <int Stages, class Producer, class Consumer, int Behind>
void check_order() {
  std::vector<float> source(kTiles * kRows * kColumns);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i);
  std::vector<float> seen(source.size() * Consumer::count, -1.f);
  constexpr int tile_bytes = kRows * kColumns * 4;
  using Pipe = Pipeline<Stages, Producer, Consumer>;
  launch(2, Stages * tile_bytes + Pipe::kBytes, [&] {
    GlobalArg<2> const arg{source.data(), {kTiles * kRows, kColumns}, {kColumns, 1}};
    auto const map = make_tile_map<Shape<Int<kRows>, Int<kColumns>>>(
        global_tensor<float, true>(arg, make_shape(arg.shape[0], arg.shape[1])));
    auto const tile = [](int stage) {
      return shared_tensor<float>(cta_shared() + stage * tile_bytes, Tile{}, Tile{});
    };
    Pipe pipe(cta_shared() + Stages * tile_bytes);
    constexpr bool both = Producer::first == Consumer::first;
    for (int n = 0; n < kTiles + (both ? Stages - 1 : 0); ++n) {
      if (Producer::contains() && n < kTiles) {
        pipe.acquire();
        ops::tile_load(map, make_coord(n * kRows, 0), tile(pipe.loading()), pipe);
        pipe.commit();
      }
      int const read = both ? n - Stages + 1 : n;
      if (Consumer::contains() && read >= 0) {
        pipe.wait();
        if (program_id<TopologyScope::cta>() == 0) {
          auto const data = tile(pipe.reading()).data();
          for (int i = 0; i < kRows * kColumns; ++i) {
            seen[(read * kRows * kColumns + i) * Consumer::count + Consumer::rank()] = data[i];
          }
        }
        if (read >= Behind) pipe.release();
      }
    }
    for (int n = 0; n < Behind; ++n) {
      if (Consumer::contains()) pipe.release();
    }
    pipe.drain();
  });
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], source[i / Consumer::count]) << i;
}

TEST(RolePipeline, KeepsTheOrder) {
  check_order<1, ThreadSlice<0, 32>, ThreadSlice<32, 96>, 0>();
  check_order<2, ThreadSlice<0, 32>, ThreadSlice<32, 64>, 1>();
  check_order<4, ThreadSlice<96, 32>, ThreadSlice<0, 64>, 1>();
  check_order<3, ThreadSlice<64, 64>, ThreadSlice<5, 1>, 2>();
  check_order<3, ThreadSlice<7, 1>, ThreadSlice<32, 32>, 0>();
}

TEST(RolePipeline, RolesMayOverlap) {
  check_order<2, ThreadSlice<0, 32>, ThreadSlice<0, 128>, 0>();
  check_order<4, ThreadSlice<0, 128>, ThreadSlice<0, 128>, 0>();
}

TEST(RolePipeline, AMissingStageIsReported) {
  using Pipe = Pipeline<2, ThreadSlice<0, 32>, ThreadSlice<32, 32>>;
  auto const starve = [] {
    launch(1, Pipe::kBytes, [] {
      Pipe pipe(cta_shared());
      if (ThreadSlice<32, 32>::contains()) pipe.wait();
      pipe.drain();
    });
  };
  try {
    starve();
    FAIL() << "nothing was thrown";
  } catch (std::runtime_error const& error) {
    EXPECT_NE(std::string(error.what()).find("threads 32-63 wait at a stage of a pipeline"),
              std::string::npos)
        << error.what();
  }
}

TEST(MeshSlice, CountsFromTheSlicesFirstInstance) {
  using Second = MeshSlice<ThreadSlice<64, 64>, Layout<Shape<_4, Int<16>>, Stride<_1, _4>>>;
  std::vector<int> seen(2 * kThreads, -1);
  launch(1, 0, [&] {
    if (!ThreadSlice<64, 64>::contains()) return;
    int const thread = program_id<TopologyScope::thread>();
    auto const at = Second{}.local_index();
    seen[2 * thread] = cute::get<0>(at);
    seen[2 * thread + 1] = cute::get<1>(at);
  });
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(seen[2 * t], t < 64 ? -1 : t % 4);
    EXPECT_EQ(seen[2 * t + 1], t < 64 ? -1 : (t - 64) / 4);
  }
}

/// A slice stores a shared tile, and holds a fragment of it.
TEST(MeshSlice, FragmentsAndStores) {
  using Slice = ThreadSlice<32, 32>;
  using SL = ShardLayout<Layout<Shape<_32, _8>, Stride<cute::_0, _1>>, cute::tuple<S<0>>,
                         MeshSlice<Slice, Layout<Shape<_32>, Stride<_1>>>>;
  using InTile = ShardLayout<Layout<Shape<_32, _8>, Stride<_8, _1>>, cute::tuple<S<0>>,
                             MeshSlice<Slice, Layout<Shape<_32>, Stride<_1>>>>;
  std::vector<float> out(40 * 8, -1.f);
  launch(1, 1024, [&] {
    if (!Slice::contains()) return;
    auto x = register_tensor<float>(RowMajor<32, 8>{}, SL{});
    ops::iota(x, Int<0>{}, 1.f, 1.f);
    auto tile = shared_tensor<float>(cta_shared(), RowMajor<32, 8>{}, RowMajor<32, 8>{});
    copy(x, view(tile, RowMajor<32, 8>{}, InTile{}));
    ops::sync<SyncKind::named, 32, 32, 0u, 1>();
    GlobalArg<2> const arg{out.data(), {40, 8}, {8, 1}};
    auto const map = make_tile_map<Shape<_32, _8>>(global_tensor<float, true>(arg, make_shape(40, 8)));
    ops::tile_store<Slice>(map, make_coord(16, 0), tile);
  });
  for (int i = 0; i < 40 * 8; ++i) EXPECT_EQ(out[i], i / 8 < 16 ? -1.f : static_cast<float>(i / 8 - 15));
}

struct Cut {
  int rank, box[5], bytes, bits, shares;
  bool valid;
  int copy[5], shared_axis;
};

// By hand from the driver's limits: at most 256 along an axis, rows of 32, 64, 128 bytes under a swizzle.
constexpr Cut kCuts[] = {
    {2, {128, 64}, 2, 3, 1, true, {128, 64}, -1},
    {2, {128, 128}, 2, 3, 1, true, {128, 64}, -1},
    {2, {256, 64}, 2, 3, 2, true, {128, 64}, 0},
    {2, {512, 64}, 2, 3, 1, true, {256, 64}, -1},
    {2, {1024, 32}, 2, 2, 2, true, {256, 32}, 0},
    {2, {64, 128}, 1, 3, 1, true, {64, 128}, -1},
    {2, {64, 32}, 4, 3, 1, true, {64, 32}, -1},
    {2, {16, 24}, 2, 0, 1, true, {16, 24}, -1},
    {2, {16, 512}, 2, 0, 1, true, {16, 256}, -1},
    {3, {1, 128, 64}, 2, 3, 2, true, {1, 64, 64}, 1},
    {5, {1, 1, 2, 8, 16}, 2, 1, 1, true, {1, 1, 2, 8, 16}, -1},
    {1, {4096}, 4, 0, 1, true, {256}, -1},
    {2, {64, 32}, 2, 3, 1, false, {}, -1},   // rows shorter than the swizzle
    {2, {64, 7}, 2, 0, 1, false, {}, -1},    // rows of 14 bytes
    {2, {300, 64}, 2, 3, 8, false, {}, -1},  // 300 rows do not divide by 8
    {2, {257, 64}, 2, 3, 1, false, {}, -1},  // nor 257 into boxes of 256
    {1, {64}, 2, 3, 2, false, {}, -1},       // rows are not shared
};

constexpr bool cuts_as_by_hand() {
  for (Cut const& cut : kCuts) {
    BulkBox const copy = bulk_box(cut.rank, cut.box, cut.bytes, cut.bits, cut.shares);
    if (copy.valid != cut.valid) return false;
    for (int axis = 0; copy.valid && axis < cut.rank; ++axis) {
      if (copy.extent[axis] != cut.copy[axis]) return false;
    }
    if (copy.valid && copy.shared_axis != cut.shared_axis) return false;
  }
  return true;
}
static_assert(cuts_as_by_hand(), "bulk_box");

/// Which tiles bulk copies would move, were this a GPU.
template <int Bits, class Storage, class Order = cute::Swizzle<Bits, 4, 3>>
constexpr bool moves_in_bulk() {
  using Matrix = RowMajor<64, 128>;
  using Shared =
      decltype(shared_tensor<cute::half_t, Order>(static_cast<char*>(nullptr), Matrix{}, Storage{}));
  using Tensor =
      decltype(global_tensor<cute::half_t, true>(GlobalArg<2>{}, make_shape(int64_t(1), int64_t(1))));
  using Access = detail::TileAccess<Shape<_64, Int<128>>, Tensor, Matrix>;
  return detail::BulkCopies<Access, Shared, detail::InBulk<Bits, 1>>::valid;
}
template <int Width>
using InBlocks = Layout<Shape<_64, Int<128 / Width>, Int<Width>>, Stride<Int<Width>, Int<64 * Width>, _1>>;
using InRows = Layout<Shape<_64, Int<128>>, Stride<Int<128>, _1>>;
using Padded = Layout<Shape<_64, Int<128>>, Stride<Int<136>, _1>>;

static_assert(moves_in_bulk<3, InBlocks<64>>() && moves_in_bulk<2, InBlocks<32>>() &&
                  moves_in_bulk<1, InBlocks<16>>() && moves_in_bulk<0, InRows>(),
              "tiles as bulk copies write them");
static_assert(!moves_in_bulk<3, InRows>() && !moves_in_bulk<3, InBlocks<32>>() &&
                  !moves_in_bulk<0, Padded>() && !moves_in_bulk<3, InBlocks<64>, cute::Swizzle<2, 4, 3>>() &&
                  !moves_in_bulk<0, InBlocks<64>, cute::Swizzle<0, 4, 3>>(),
              "other tiles");

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
