// ops::gather and the ops that write at indices, over windows of global memory, shared tiles and register
// fragments, against loops over logical coordinates.
#include <cmath>
#include <stdexcept>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Threads = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
constexpr int64_t kRows = 11, kWidth = 80;  // of the table

template <class T>
std::vector<T> numbers(int64_t count, int salt = 0) {
  std::vector<T> result(count);
  for (int64_t i = 0; i < count; ++i) result[i] = convert<T>(static_cast<int>((i * 7 + salt) % 31) - 15);
  return result;
}

template <class T>
double wide(T x) {
  return convert<double>(x);
}

/// A row-major matrix as a kernel sees it.
template <bool Vector, class T>
auto matrix(std::vector<T> const& data, int64_t rows, int64_t columns) {
  GlobalArg<2> arg{const_cast<T*>(data.data()), {rows, columns}, {columns, 1}};
  return global_tensor<T, Vector>(arg, make_shape(rows, columns));
}
template <class T>
auto vector(std::vector<T> const& data) {
  int64_t const count = static_cast<int64_t>(data.size());
  GlobalArg<1> arg{const_cast<T*>(data.data()), {count}, {1}};
  return global_tensor<T, false>(arg, make_shape(count));
}

/// 8 rows over the warps, 64 columns over the lanes: two warps hold the same... no two hold the same element.
using Rows =
    ShardLayout<Layout<Shape<_4, _2, _32, _2>, Stride<_0, _2, _0, _1>>, cute::tuple<S<0>, S<2>>, Threads>;
/// The same with runs of 8 columns, which packs may move.
using Runs = Mesh<Layout<Shape<Int<16>, _8>, Stride<_8, _1>>, kThread>;
using InRuns = ShardLayout<Layout<Shape<Int<16>, _8, _8>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, Runs>;

/// Rows of a table by number, from column `first` on; what lies beyond its last column is zero.
template <bool Vector, class T, class I, int R, int C, class SL>
void check_rows(int64_t first) {
  auto const table = numbers<T>(kRows * kWidth);
  std::vector<I> index(R);
  for (int r = 0; r < R; ++r) index[r] = static_cast<I>(r * 5 % kRows);
  index[R - 1] = kRows - 1;
  std::vector<int> seen(R * C, 0);
  launch(1, 0, [&] {
    auto rows = register_tensor<T>(RowMajor<R, C>{}, SL{});
    auto row = register_tensor<int32_t>(RowMajor<R, C>{}, SL{});
    auto column = register_tensor<int32_t>(RowMajor<R, C>{}, SL{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    auto const source = make_window<Axes<0, 1>>(matrix<Vector>(table, kRows, kWidth), make_coord(0, first),
                                                make_shape(kRows, Int<C>{}));
    auto const ids = make_window<Axes<0>>(vector(index), make_coord(0), make_shape(Int<R>{}));
    ops::gather(source, ids, rows, _0{});
    for (int i = 0; i < cute::size(rows.engine); ++i) {
      int const r = row.data()[i], c = column.data()[i];
      double const expected = first + c < kWidth ? wide(table[index[r] * kWidth + first + c]) : 0;
      ASSERT_EQ(wide(rows.data()[i]), expected) << r << ", " << c;
      ++seen[r * C + c];
    }
  });
  for (int count : seen) EXPECT_EQ(count, 1);
}

TEST(Gather, RowsOfATable) {
  check_rows<true, float, int32_t, 8, 64, Rows>(0);
  check_rows<true, float, int64_t, 8, 64, Rows>(16);  // beyond the last column
  check_rows<false, double, int64_t, 8, 64, Rows>(3);
  check_rows<true, cute::half_t, int32_t, 16, 64, InRuns>(0);
  check_rows<true, cute::half_t, int32_t, 16, 64, InRuns>(3);  // no pack starts aligned
  check_rows<true, cute::bfloat16_t, int64_t, 16, 64, InRuns>(24);
  check_rows<false, int8_t, int32_t, 16, 64, InRuns>(0);
  check_rows<true, cute::float_e4m3_t, int32_t, 16, 64, InRuns>(16);
}

TEST(Gather, OneElementForEachIndexInATile) {
  // y[i][j] = tile[i][index[i][j]], with indices in registers and in a tile; then along the rows.
  using Tile = Layout<Shape<_8, Int<64>>, Stride<Int<72>, _1>>;
  std::vector<int> seen(8 * 64, 0);
  launch(1, 16384, [&] {
    auto tile = shared_tensor<float>(cta_shared(), RowMajor<8, 64>{}, Tile{});
    auto at = shared_tensor<int32_t>(cta_shared() + 4096, RowMajor<8, 64>{}, Tile{});
    for (int i = program_id<kThread>(); i < 8 * 64; i += kThreads) {
      tile.data()[i / 64 * 72 + i % 64] = static_cast<float>(i);
      at.data()[i / 64 * 72 + i % 64] = (i * 13 + 5) % 8;
    }
    ops::sync<SyncKind::cta>();
    auto row = register_tensor<int32_t>(RowMajor<8, 64>{}, Rows{});
    auto column = register_tensor<int32_t>(RowMajor<8, 64>{}, Rows{});
    auto index = register_tensor<int64_t>(RowMajor<8, 64>{}, Rows{});
    auto y = register_tensor<float>(RowMajor<8, 64>{}, Rows{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    ops::iota(index, _1{}, 63, -1);
    auto const window = make_window<Axes<0, 1>>(tile, make_coord(0, 0), Shape<_8, Int<64>>{});
    ops::gather(window, index, y, _1{});
    for (int i = 0; i < 4; ++i) {
      int const r = row.data()[i], c = column.data()[i];
      ASSERT_EQ(y.data()[i], r * 64 + 63 - c);
      ++seen[r * 64 + c];
    }
    ops::gather(window, make_window<Axes<0, 1>>(at, make_coord(0, 0), Shape<_8, Int<64>>{}), y, _0{});
    for (int i = 0; i < 4; ++i) {
      int const r = row.data()[i], c = column.data()[i];
      ASSERT_EQ(y.data()[i], ((r * 64 + c) * 13 + 5) % 8 * 64 + c);
    }
  });
  for (int count : seen) EXPECT_EQ(count, 1);
}

/// Rows of a table into a shared tile, whose columns make packs or do not, and into global memory.
template <bool Vector, class T, int Columns, int Pitch>
void check_windows(int64_t first) {
  auto const table = numbers<T>(kRows * kWidth);
  std::vector<int64_t> const index = {3, 10, 0, 3, 9, 9, 1};
  std::vector<T> out(7 * kWidth + 1, convert<T>(99));
  launch(3, 16384, [&] {
    using Storage = Layout<Shape<Int<7>, Int<Columns>>, Stride<Int<Pitch>, _1>>;
    auto tile = shared_tensor<T>(cta_shared(), RowMajor<7, Columns>{}, Storage{});
    auto const all = matrix<Vector>(table, kRows, kWidth);
    auto const ids = make_window<Axes<0>>(vector(index), make_coord(0), Shape<Int<7>>{});
    ops::gather(make_window<Axes<0, 1>>(all, make_coord(0, first), make_shape(kRows, Int<Columns>{})), ids,
                make_window<Axes<0, 1>>(tile, make_coord(0, 0), Shape<Int<7>, Int<Columns>>{}), _0{});
    ops::sync<SyncKind::cta>();
    for (int i = program_id<kThread>(); i < 7 * Columns; i += kThreads) {
      int const r = i / Columns, c = i % Columns;
      double const expected = first + c < kWidth ? wide(table[index[r] * kWidth + first + c]) : 0;
      ASSERT_EQ(wide(tile.data()[r * Pitch + c]), expected) << r << ", " << c;
    }
    ops::gather(
        make_window<Axes<0, 1>>(all, make_coord(0, 0), make_shape(kRows, kWidth)), ids,
        make_window<Axes<0, 1>>(matrix<Vector>(out, 7, kWidth), make_coord(0, 0), make_shape(7, kWidth)),
        _0{}, share_of_grid());
  });
  for (int64_t i = 0; i < 7 * kWidth; ++i) {
    ASSERT_EQ(wide(out[i]), wide(table[index[i / kWidth] * kWidth + i % kWidth])) << i;
  }
  EXPECT_EQ(wide(out.back()), 99);
}

TEST(Gather, IntoMemory) {
  check_windows<true, float, 64, 68>(0);
  check_windows<true, float, 64, 68>(20);
  check_windows<true, float, 30, 33>(4);
  check_windows<true, cute::bfloat16_t, 64, 72>(8);
  check_windows<true, cute::bfloat16_t, 64, 72>(1);
  check_windows<false, uint8_t, 48, 48>(0);
}

TEST(Gather, AnIndexOutOfRangeIsReportedWithWhoMetIt) {
  auto const table = numbers<float>(kRows * kWidth);
  for (int64_t bad : {int64_t(-1), kRows, int64_t(1) << 40}) {
    std::vector<int64_t> index(8, 2);
    index[5] = bad;
    auto const run = [&] {
      launch(1, 0, [&] {
        auto rows = register_tensor<float>(RowMajor<8, 64>{}, Rows{});
        ops::gather(make_window<Axes<0, 1>>(matrix<true>(table, kRows, kWidth), make_coord(0, 0),
                                            make_shape(kRows, Int<64>{})),
                    make_window<Axes<0>>(vector(index), make_coord(0), Shape<_8>{}), rows, _0{});
      });
    };
    try {
      run();
      ADD_FAILURE() << "index " << bad << " was let through";
    } catch (std::exception const& error) {
      EXPECT_EQ(std::string(error.what()), "instance (cta 0, thread 64): index " + std::to_string(bad) +
                                               " is out of range for axis 0 of extent 11");
    }
  }
}

/// out = dst with rows (or elements) of src added or in their place, by the instances of three CTAs.
template <class T, bool Add, int Axis, bool Vector = false>
void check_updates() {
  constexpr int64_t shape[] = {9, 16};
  constexpr int64_t updates = 12;  // more than there are rows: some are written twice
  auto const dst = numbers<T>(9 * 16);
  std::vector<int32_t> index(updates);
  for (int k = 0; k < updates; ++k) index[k] = k * 5 % static_cast<int>(shape[Axis]);
  int64_t const rows = Axis == 0 ? updates : 9, columns = Axis == 0 ? 16 : updates;
  auto const src = numbers<T>(rows * columns, 3);
  std::vector<T> expected = dst, out(9 * 16, convert<T>(77));
  for (int64_t k = 0; k < updates; ++k) {
    for (int64_t c = 0; c < shape[1 - Axis]; ++c) {
      T& e = expected[Axis == 0 ? index[k] * 16 + c : c * 16 + index[k]];
      T const x = src[Axis == 0 ? k * columns + c : c * columns + k];
      e = Add ? convert<T>(wide(e) + wide(x)) : x;
    }
  }
  launch(3, 0, [&] {
    auto const from =
        make_window<Axes<0, 1>>(matrix<Vector>(dst, 9, 16), make_coord(0, 0), make_shape(9, 16));
    auto const rows_of = make_window<Axes<0, 1>>(matrix<Vector>(src, rows, columns), make_coord(0, 0),
                                                 make_shape(rows, columns));
    auto const to = make_window<Axes<0, 1>>(matrix<Vector>(out, 9, 16), make_coord(0, 0), make_shape(9, 16));
    auto const at = make_window<Axes<0>>(vector(index), make_coord(0), make_shape(updates));
    if constexpr (Add) {
      ops::index_add(from, at, rows_of, to, Int<Axis>{}, share_of_grid());
    } else {
      ops::index_copy(from, at, rows_of, to, Int<Axis>{}, share_of_grid());
    }
  });
  for (int64_t i = 0; i < 9 * 16; ++i) ASSERT_EQ(wide(out[i]), wide(expected[i])) << i;
}

TEST(Scatter, RowsAddedAndReplaced) {
  check_updates<float, true, 0>();
  check_updates<float, true, 0, true>();
  check_updates<cute::bfloat16_t, true, 0, true>();
  check_updates<cute::half_t, false, 0, true>();
  check_updates<float, true, 1, true>();
  check_updates<float, true, 1>();
  check_updates<cute::half_t, true, 0>();
  check_updates<int8_t, true, 1>();
  check_updates<int64_t, true, 0>();
  check_updates<double, false, 0>();
  check_updates<cute::bfloat16_t, false, 1>();
  check_updates<cute::float_e5m2_t, false, 0>();
}

TEST(Scatter, FragmentsOfWholeColumns) {
  // Each lane holds a column of eight rows, and of five updates.
  using Lanes = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  using Column8 = ShardLayout<Layout<Shape<_8, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, Lanes>;
  using Column5 = ShardLayout<Layout<Shape<cute::_5, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, Lanes>;
  using Index5 = ShardLayout<Layout<Shape<cute::_5>, Stride<_1>>, cute::tuple<B>, Lanes>;
  constexpr int rows[] = {6, 0, 6, 3, 6};
  launch(1, 0, [&] {
    int const t = program_id<kThread>();
    auto x = register_tensor<int32_t>(RowMajor<8, 128>{}, Column8{});
    auto y = register_tensor<int32_t>(RowMajor<5, 128>{}, Column5{});
    auto index = register_tensor<int64_t>(RowMajor<5>{}, Index5{});
    auto each = register_tensor<int32_t>(RowMajor<5, 128>{}, Column5{});
    for (int k = 0; k < 5; ++k) {
      y.data()[k] = 100 * k + t;
      index.data()[k] = rows[k];
      each.data()[k] = (rows[k] + t) % 8;
    }
    int expected[8] = {}, last[8] = {}, own[8] = {};
    for (int k = 0; k < 5; ++k) {
      expected[rows[k]] += 100 * k + t;
      last[rows[k]] = 100 * k + t;
      own[(rows[k] + t) % 8] += 100 * k + t;
    }
    ops::fill(x, 0);
    ops::index_add(index, y, x, _0{});
    for (int r = 0; r < 8; ++r) ASSERT_EQ(x.data()[r], expected[r]);
    ops::fill(x, 0);
    ops::index_copy(index, y, x, _0{});
    for (int r = 0; r < 8; ++r) ASSERT_EQ(x.data()[r], last[r]);
    ops::fill(x, 0);
    ops::index_add(each, y, x, _0{});
    for (int r = 0; r < 8; ++r) ASSERT_EQ(x.data()[r], own[r]);
  });
}

template <class T>
void check_atomic_additions() {
  // 8 x 64 ones from each of five CTAs, from registers and from memory, into four rows.
  std::vector<T> sums(4 * 64, convert<T>(1)), ones(8 * 64, convert<T>(1));
  std::vector<int32_t> const index = {0, 1, 2, 1, 1, 3, 2, 1};
  launch(5, 0, [&] {
    auto const to = make_window<Axes<0, 1>>(matrix<false>(sums, 4, 64), make_coord(0, 0), make_shape(4, 64));
    auto const ids = make_window<Axes<0>>(vector(index), make_coord(0), Shape<_8>{});
    auto x = register_tensor<T>(RowMajor<8, 64>{}, Rows{});
    ops::fill(x, 1);
    ops::scatter_add(ids, x, to, _0{});
    auto const from = make_window<Axes<0, 1>>(matrix<true>(ones, 8, 64), make_coord(0, 0), make_shape(8, 64));
    ops::scatter_add(ids, from, to, _0{}, share_of_grid());
  });
  int const times[] = {1, 4, 2, 1};
  for (int i = 0; i < 4 * 64; ++i) ASSERT_EQ(wide(sums[i]), 1 + 6 * times[i / 64]) << i;
}

TEST(Scatter, AtomicAdditions) {
  check_atomic_additions<float>();
  check_atomic_additions<double>();
  check_atomic_additions<cute::half_t>();
  check_atomic_additions<cute::bfloat16_t>();
  check_atomic_additions<int32_t>();
  check_atomic_additions<int64_t>();
}

TEST(Scatter, ReplicasAddOnce) {
  // All warps hold the same row.
  using Row = ShardLayout<Layout<Shape<_1, _32>, Stride<_0, _0>>, cute::tuple<B, S<1>>, Threads>;
  std::vector<int32_t> sums(3 * 32, 0);
  launch(1, 0, [&] {
    auto x = register_tensor<int32_t>(RowMajor<1, 32>{}, Row{});
    auto index = register_tensor<int32_t>(RowMajor<1, 32>{}, Row{});
    ops::fill(x, 5);
    ops::fill(index, 2);
    ops::scatter_add(index, x,
                     make_window<Axes<0, 1>>(matrix<false>(sums, 3, 32), make_coord(0, 0), make_shape(3, 32)),
                     _0{});
  });
  for (int i = 0; i < 3 * 32; ++i) ASSERT_EQ(sums[i], i < 64 ? 0 : 5);
}

TEST(Scatter, PositionsOfACache) {
  auto const cache = numbers<float>(2 * 9 * 3 * 4), fresh = numbers<float>(2 * 5 * 3 * 4, 100);
  auto const tensor = [](std::vector<float> const& data, int64_t positions) {
    GlobalArg<4> arg{const_cast<float*>(data.data()), {2, positions, 3, 4}, {positions * 12, 12, 4, 1}};
    auto const whole = global_tensor<float, true>(arg, make_shape(2, positions, 3, 4));
    return make_window<Axes<0, 1, 2, 3>>(whole, make_coord(0, 0, 0, 0), make_shape(2, positions, 3, 4));
  };
  for (int position : {0, 3, 9}) {
    for (int count : {0, 2, 5}) {
      std::vector<float> out(cache.size(), -1.f);
      auto const run = [&] {
        launch(2, 0, [&] {
          ops::cache_update(tensor(cache, 9), position, count, tensor(fresh, 5), tensor(out, 9),
                            share_of_grid());
        });
      };
      if (position + count > 9) {
        EXPECT_THROW(run(), std::exception);
        continue;
      }
      run();
      for (int i = 0; i < 2 * 9 * 12; ++i) {
        int const b = i / 108, p = i / 12 % 9 - position;
        float const expected = p >= 0 && p < count ? fresh[(b * 5 + p) * 12 + i % 12] : cache[i];
        ASSERT_EQ(out[i], expected) << i;
      }
    }
  }
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
