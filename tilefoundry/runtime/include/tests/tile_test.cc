// tile_load, tile_store and copy: boxes that overhang, odd extents, strides, poisoned destinations.
#include <cmath>
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_64;
constexpr int kRows = 32, kColumns = 64;
using Tile = RowMajor<kRows, kColumns>;
using Box = Shape<_1, Int<kRows>, Int<kColumns>>;

/// A (batch, rows, columns) tensor in a larger buffer, aligned and padded so that the vector variant may be
/// used.
template <class T>
struct Source {
  int64_t batch, rows, columns, row_stride, batch_stride, column_stride;
  std::vector<T> storage;
  T* base;

  Source(int64_t b, int64_t r, int64_t c, bool vector)
      : batch(b), rows(r), columns(c), column_stride(vector ? 1 : 2) {
    int64_t const multiple = 16 / sizeof(T);
    row_stride = vector ? (c + multiple - 1) / multiple * multiple : 2 * c + 1;
    batch_stride = r * row_stride;
    storage.resize(static_cast<size_t>(b * batch_stride + 64));
    base = storage.data() + 32;
    while (vector && reinterpret_cast<uintptr_t>(base) % 16) --base;
    for (int64_t i = 0; i < batch * batch_stride; ++i) base[i] = convert<T>(100.f * noise(i));
  }

  GlobalArg<3> arg() { return {base, {batch, rows, columns}, {batch_stride, row_stride, column_stride}}; }

  /// The element, or zero outside.
  double at(int64_t b, int64_t r, int64_t c) const {
    if (b < 0 || b >= batch || r < 0 || r >= rows || c < 0 || c >= columns) return 0.;
    return convert<double>(base[b * batch_stride + r * row_stride + c * column_stride]);
  }
};

struct Case {
  int64_t rows, columns, row, column;
};
Case const kCases[] = {{32, 64, 0, 0},  {33, 65, 32, 64},  {100, 72, 64, 64}, {7, 5, 0, 0},
                       {1, 1, 0, 0},    {40, 200, 16, 64}, {40, 200, 3, 7},   {40, 200, 39, 199},
                       {40, 64, 40, 0}, {64, 130, 32, 128}};

template <class T>
T poison() {
  if constexpr (detail::is_float_v<T>) {
    return convert<T>(std::numeric_limits<float>::quiet_NaN());
  } else {
    return convert<T>(85);
  }
}

/// A tile in blocks of Width columns whose rows are permuted by cute::Swizzle<Bits, 4, 3>.
template <class T, int Width, int Bits>
void check_blocks() {
  using Storage = Layout<Shape<Int<kRows>, Int<kColumns / Width>, Int<Width>>,
                         Stride<Int<Width>, Int<Width * kRows>, _1>>;
  for (Case const& c : kCases) {
    Source<T> source(2, c.rows, c.columns, true);
    launch(1, kColumns * kRows * sizeof(T), [&] {
      auto tensor =
          global_tensor<T, true>(source.arg(), make_shape(source.batch, source.rows, source.columns));
      auto tile = shared_tensor<T, cute::Swizzle<Bits, 4, 3>>(cta_shared(), Tile{}, Storage{});
      ops::tile_load(make_tile_map<Box>(tensor), make_coord(1, c.row, c.column), tile);
      if (program_id<kThread>() != 0) return;
      for (int r = 0; r < kRows; ++r) {
        for (int k = 0; k < kColumns; ++k) {
          int const linear =
              (k / Width * Width * kRows + r * Width + k % Width) * static_cast<int>(sizeof(T));
          int const at = linear ^ ((linear >> 7 & ((1 << Bits) - 1)) << 4);
          ASSERT_EQ(convert<double>(tile.data()[at / static_cast<int>(sizeof(T))]),
                    source.at(1, c.row + r, c.column + k))
              << r << ", " << k;
        }
      }
    });
  }
}

TEST(TileLoad, Blocks) {
  check_blocks<cute::half_t, 8, 0>();
  check_blocks<cute::half_t, 64, 3>();
  check_blocks<cute::bfloat16_t, 32, 2>();
  check_blocks<cute::bfloat16_t, 16, 1>();
  check_blocks<float, 32, 3>();
  check_blocks<int8_t, 64, 3>();
  check_blocks<double, 16, 2>();
}

template <class T, bool Vector, int Pad>
void check_shared_load() {
  using Storage = Layout<Shape<Int<kRows>, Int<kColumns>>, Stride<Int<kColumns + Pad>, _1>>;
  constexpr int bytes = kRows * (kColumns + Pad) * static_cast<int>(sizeof(T));
  for (Case const& c : kCases) {
    Source<T> source(2, c.rows, c.columns, Vector);
    launch(1, bytes, [&] {
      int const t = program_id<kThread>();
      T* const raw = reinterpret_cast<T*>(cta_shared());
      if (t == 0) {
        for (int i = 0; i < kRows * (kColumns + Pad); ++i) raw[i] = poison<T>();
      }
      ops::sync<SyncKind::cta>();
      auto tensor =
          global_tensor<T, Vector>(source.arg(), make_shape(source.batch, source.rows, source.columns));
      auto tile = shared_tensor<T>(cta_shared(), Tile{}, Storage{});
      ops::tile_load(make_tile_map<Box>(tensor), make_coord(1, c.row, c.column), tile);
      if (t != 0) return;
      for (int r = 0; r < kRows; ++r) {
        for (int k = 0; k < kColumns; ++k) {
          ASSERT_EQ(convert<double>(raw[r * (kColumns + Pad) + k]), source.at(1, c.row + r, c.column + k))
              << r << ", " << k << " of the box at " << c.row << ", " << c.column << " in " << c.rows << " x "
              << c.columns;
        }
        for (int k = kColumns; k < kColumns + Pad; ++k) {
          ASSERT_TRUE(!detail::is_float_v<T> || std::isnan(convert<double>(raw[r * (kColumns + Pad) + k])))
              << "padding was written";
        }
      }
    });
  }
}

template <class T>
void check_shared_loads() {
  check_shared_load<T, true, 16 / sizeof(T)>();
  check_shared_load<T, true, 0>();
  check_shared_load<T, true, 2>();
  check_shared_load<T, true, 1>();
  check_shared_load<T, false, 16 / sizeof(T)>();
  check_shared_load<T, false, 0>();
}

TEST(TileLoad, Shared16Bit) { check_shared_loads<cute::bfloat16_t>(); }
TEST(TileLoad, Shared32Bit) { check_shared_loads<float>(); }
TEST(TileLoad, Shared8Bit) { check_shared_loads<int8_t>(); }
TEST(TileLoad, Shared64Bit) { check_shared_loads<double>(); }

TEST(TileLoad, PacksAreAsWideAsTheStridesAllow) {
  auto tensor =
      global_tensor<cute::half_t, true>(GlobalArg<3>{}, make_shape(int64_t(1), int64_t(1), int64_t(1)));
  using Access = detail::TileAccess<Box, decltype(tensor), Tile>;
  auto pack = [](auto pitch) {
    using Storage = Layout<Shape<Int<kRows>, Int<kColumns>>, Stride<decltype(pitch), _1>>;
    using Shared = decltype(shared_tensor<cute::half_t>(static_cast<char*>(nullptr), Tile{}, Storage{}));
    return detail::shared_pack<Access, Shared>(cute::make_seq<3>{});
  };
  EXPECT_EQ(pack(Int<72>{}), 8);
  EXPECT_EQ(pack(Int<68>{}), 4);
  EXPECT_EQ(pack(Int<66>{}), 2);
  EXPECT_EQ(pack(Int<65>{}), 1);
  auto grouped = [](auto group) {
    constexpr int n = decltype(group)::value;
    using Storage = Layout<Shape<Int<kRows>, Int<kColumns / n>, decltype(group)>,
                           Stride<decltype(group), Int<n*(kRows + 1)>, _1>>;
    using Shared = decltype(shared_tensor<cute::half_t>(static_cast<char*>(nullptr), Tile{}, Storage{}));
    return detail::shared_pack<Access, Shared>(cute::make_seq<3>{});
  };
  EXPECT_EQ(grouped(Int<8>{}), 8);
  EXPECT_EQ(grouped(Int<16>{}), 8);
  EXPECT_EQ(grouped(Int<4>{}), 4);
  EXPECT_EQ(grouped(Int<2>{}), 2);
  auto general =
      global_tensor<cute::half_t, false>(GlobalArg<3>{}, make_shape(int64_t(1), int64_t(1), int64_t(1)));
  EXPECT_EQ((detail::TileAccess<Box, decltype(general), Tile>::aligned), 1);
}

using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
/// Rows over warps and groups, columns in runs of 8 over quads: 16-byte packs of 16-bit elements.
using Runs = ShardLayout<Layout<Shape<_4, _8, _2, _4, _8>, Stride<_0, _0, _8, _0, _1>>,
                         cute::tuple<S<0>, S<1>, S<3>>, Threads>;
/// The accumulator of m16n8 atoms, two warps by two.
using SquareThreads = Mesh<Layout<Shape<_2, _2, _8, _4>, Stride<_64, _32, _4, _1>>, kThread>;
using Accumulator = ShardLayout<Layout<Shape<_2, _2, _8, _2, _4, _4, _2>, Stride<_0, _8, _0, _0, _2, _0, _1>>,
                                cute::tuple<S<0>, S<3>, S<2>, S<5>>, SquareThreads>;

template <class T, bool Vector, class SL>
void check_fragment() {
  for (Case const& c : kCases) {
    Source<T> source(2, c.rows, c.columns, Vector);
    Source<T> out(2, c.rows, c.columns, Vector);
    for (T& x : out.storage) x = poison<T>();
    launch(1, 0, [&] {
      auto const shape = make_shape(source.batch, source.rows, source.columns);
      auto from = make_tile_map<Box>(global_tensor<T, Vector>(source.arg(), shape));
      auto to = make_tile_map<Box>(global_tensor<T, Vector>(out.arg(), shape));
      auto x = register_tensor<T>(Tile{}, SL{});
      auto row = register_tensor<int32_t>(Tile{}, SL{});
      auto column = register_tensor<int32_t>(Tile{}, SL{});
      ops::iota(row, _0{}, 0, 1);
      ops::iota(column, _1{}, 0, 1);
      ops::fill(x, poison<T>());
      ops::tile_load(from, make_coord(1, c.row, c.column), x);
      for (int i = 0; i < cute::size(x.engine); ++i) {
        ASSERT_EQ(convert<double>(x.data()[i]),
                  source.at(1, c.row + row.data()[i], c.column + column.data()[i]));
      }
      ops::tile_store(to, make_coord(1, c.row, c.column), x);
    });
    // Exactly the box's elements inside the tensor are written, and nothing else in the buffer.
    int64_t written = 0;
    for (int64_t r = 0; r < c.rows; ++r) {
      for (int64_t k = 0; k < c.columns; ++k) {
        bool const inside = r >= c.row && r < c.row + kRows && k >= c.column && k < c.column + kColumns;
        if (!inside) continue;
        ++written;
        ASSERT_EQ(out.at(1, r, k), source.at(1, r, k)) << r << ", " << k;
      }
    }
    int64_t found = 0;
    for (T const& x : out.storage) found += !std::isnan(convert<double>(x));
    EXPECT_EQ(found, written);
  }
}

TEST(TileStore, FragmentsOfRuns) {
  check_fragment<cute::half_t, true, Runs>();
  check_fragment<cute::half_t, false, Runs>();
  check_fragment<float, true, Runs>();
  check_fragment<double, false, Runs>();
}

TEST(TileStore, Accumulators) {
  check_fragment<cute::bfloat16_t, true, Accumulator>();
  check_fragment<float, false, Accumulator>();
}

TEST(TileStore, SharedTile) {
  using T = cute::half_t;
  using Storage = Layout<Shape<Int<kRows>, Int<kColumns>>, Stride<Int<kColumns + 8>, _1>>;
  for (Case const& c : kCases) {
    Source<T> out(2, c.rows, c.columns, true);
    for (T& x : out.storage) x = poison<T>();
    launch(1, kRows * (kColumns + 8) * 2, [&] {
      using Flat = RowMajor<kRows*(kColumns + 8)>;
      auto const all = shared_tensor<T>(cta_shared(), Flat{}, Flat{});
      for (int i = program_id<kThread>(); i < kRows * (kColumns + 8); i += kThreads)
        all.data()[i] = convert<T>(i);
      ops::sync<SyncKind::cta>();
      auto to =
          make_tile_map<Box>(global_tensor<T, true>(out.arg(), make_shape(out.batch, out.rows, out.columns)));
      ops::tile_store(to, make_coord(0, c.row, c.column), shared_tensor<T>(cta_shared(), Tile{}, Storage{}));
    });
    int64_t written = 0, found = 0;
    for (int r = 0; r < kRows; ++r) {
      for (int k = 0; k < kColumns; ++k) {
        if (c.row + r >= c.rows || c.column + k >= c.columns) continue;
        ++written;
        ASSERT_EQ(out.at(0, c.row + r, c.column + k), convert<double>(convert<T>(r * (kColumns + 8) + k)));
      }
    }
    for (T const& x : out.storage) found += !std::isnan(convert<double>(x));
    EXPECT_EQ(found, written);
  }
}

TEST(TileStore, OneOfTheReplicasWrites) {
  float storage[4] = {};
  GlobalArg<1> const arg{storage, {4}, {1}};
  using SL = ShardLayout<Layout<Shape<_4>, Stride<_0>>, cute::tuple<S<0>, B>,
                         Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>>;
  launch(1, 0, [&] {
    auto to = make_tile_map<Shape<_4>>(global_tensor<float, false>(arg, make_shape(arg.shape[0])));
    auto x = register_tensor<float>(RowMajor<4>{}, SL{});
    ops::fill(x, static_cast<float>(program_id<kThread>()));
    ops::tile_store(to, make_coord(0), x);
  });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(storage[i], 32.f * i) << "lane 0 of each warp writes";
}

TEST(Tile, AxesOfOneMayStandAnywhere) {
  float storage[3 * 4 * 8];
  for (int i = 0; i < 96; ++i) storage[i] = static_cast<float>(i);
  GlobalArg<3> const arg{storage, {3, 4, 8}, {32, 8, 1}};
  launch(1, 1024, [&] {
    auto map = make_tile_map<Shape<_2, _1, _8>>(
        global_tensor<float, false>(arg, make_shape(int64_t(3), int64_t(4), int64_t(8))));
    auto tile = shared_tensor<float>(cta_shared(), RowMajor<2, 8>{}, RowMajor<2, 8>{});
    ops::tile_load(map, make_coord(1, 2, 0), tile);
    if (program_id<kThread>() != 0) return;
    for (int i = 0; i < 16; ++i) EXPECT_EQ(tile.data()[i], static_cast<float>(32 * (1 + i / 8) + 16 + i % 8));
  });
}

TEST(Pipeline, StagesInTurn) {
  // A running sum over tiles with two stages in flight, each read by other instances than those that loaded
  // it.
  constexpr int tiles = 9;
  std::vector<float> data(tiles * 128);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 31);
  GlobalArg<2> const arg{data.data(), {tiles, 128}, {128, 1}};
  std::vector<float> sums(128);
  launch(1, 2 * 512, [&] {
    auto map = make_tile_map<Shape<_1, Int<128>>>(
        global_tensor<float, false>(arg, make_shape(int64_t(tiles), Int<128>{})));
    auto stage = [](int n) {
      return shared_tensor<float>(cta_shared() + n % 2 * 512, RowMajor<128>{}, RowMajor<128>{});
    };
    Pipeline<2> pipe;
    auto load = [&](int n) {
      pipe.acquire();
      if (n < tiles) ops::tile_load(map, make_coord(n, 0), stage(n), pipe);
      pipe.commit();
    };
    load(0);
    float sum = 0;
    for (int n = 0; n < tiles; ++n) {
      load(n + 1);
      pipe.wait<1>();
      sum += stage(n).data()[127 - program_id<kThread>()];
      pipe.release();
    }
    pipe.drain();
    sums[program_id<kThread>()] = sum;
  });
  for (int t = 0; t < 128; ++t) {
    float expected = 0;
    for (int n = 0; n < tiles; ++n) expected += data[n * 128 + 127 - t];
    EXPECT_EQ(sums[t], expected);
  }
}

TEST(Copy, FragmentThroughSharedMemory) {
  using T = cute::half_t;
  constexpr int pitch = kColumns + 8;
  using InShared =
      ShardLayout<Layout<Shape<_4, _8, _2, _4, _8>, Stride<Int<8 * pitch>, Int<pitch>, _32, _8, _1>>,
                  cute::tuple<S<0>, S<1>, S<3>>, Threads>;
  using Storage = Layout<Shape<Int<kRows>, Int<kColumns>>, Stride<Int<pitch>, _1>>;
  launch(1, kRows * pitch * 2, [] {
    auto tile = shared_tensor<T>(cta_shared(), Tile{}, Storage{});
    auto x = register_tensor<float>(Tile{}, Runs{});
    auto y = register_tensor<T>(Tile{}, Runs{});
    auto z = register_tensor<T>(Tile{}, Runs{});
    ops::iota(x, _0{}, 0.f, 64.f);
    auto column = register_tensor<float>(Tile{}, Runs{});
    ops::iota(column, _1{}, 0.f, 1.f);
    ops::binary(op::add{}, x, column, x);
    ops::cast(x, y);
    static_assert(detail::copy_pack_size<decltype(y), decltype(view(tile, Tile{}, InShared{}))>() == 8);
    tilefoundry::copy(y, view(tile, Tile{}, InShared{}));
    ops::sync<SyncKind::cta>();
    for (int i = program_id<kThread>(); i < kRows * kColumns; i += kThreads) {
      EXPECT_EQ(float(tile.data()[i / kColumns * pitch + i % kColumns]), float(T(static_cast<float>(i))));
    }
    tilefoundry::copy(view(tile, Tile{}, InShared{}), z);
    for (int i = 0; i < cute::size(z.engine); ++i) EXPECT_EQ(float(z.data()[i]), float(y.data()[i]));
    auto back = register_tensor<float>(Tile{}, Runs{});
    tilefoundry::copy(view(tile, Tile{}, InShared{}), back);
    for (int i = 0; i < cute::size(back.engine); ++i) EXPECT_EQ(back.data()[i], float(y.data()[i]));
  });
}

TEST(Copy, BetweenShardAndPlainTensors) {
  std::vector<float> full(kRows * kColumns, -1.f);
  launch(1, 0, [&] {
    auto plain = cute::make_tensor(cute::make_gmem_ptr(full.data()), Tile{});
    auto x = register_tensor<float>(Tile{}, Runs{});
    ops::iota(x, _0{}, 0.f, 100.f);
    tilefoundry::copy(x, plain);
    ops::sync<SyncKind::cta>();
    auto y = register_tensor<float>(Tile{}, Runs{});
    tilefoundry::copy(plain, y);
    for (int i = 0; i < cute::size(y.engine); ++i) EXPECT_EQ(y.data()[i], x.data()[i]);
    float mine[16];
    auto part = cute::make_tensor(&mine[0], RowMajor<16>{});
    tilefoundry::copy(x, part);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(mine[i], x.data()[i]);
  });
  for (int i = 0; i < kRows * kColumns; ++i) EXPECT_EQ(full[i], 100.f * (i / kColumns));
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
