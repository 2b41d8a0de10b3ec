// ops::scan over meshes, against a loop along the axis. Values are small integers, so that every order of
// addition gives the same result in f32.
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

constexpr int kWorkspace = 32768;

int value_at(int row, int column) { return (row * 37 + column * 11 + row * column) % 7 - 3; }

double combine(op::sum, double a, double b) { return a + b; }
double combine(op::max, double a, double b) { return std::max(a, b); }
double combine(op::min, double a, double b) { return std::min(a, b); }

/// Scans a Rows x Columns matrix of value_at along Axis, and checks what every instance holds. Repetitions
/// have different values, so that what one leaves behind in the workspace is wrong for the next.
template <class Op, class T, int Rows, int Columns, int Axis, bool Exclusive, bool Workspace, class SL>
void check(int repetitions = 2) {
  std::vector<int> seen(Rows * Columns, 0);
  launch(1, kWorkspace, [&] {
    auto x = register_tensor<T>(RowMajor<Rows, Columns>{}, SL{});
    auto y = register_tensor<T>(RowMajor<Rows, Columns>{}, SL{});
    auto row = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, SL{});
    auto column = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, SL{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    for (int n = 0; n < repetitions; ++n) {
      for (int i = 0; i < cute::size(x.engine); ++i) {
        x.data()[i] = convert<T>(value_at(row.data()[i] + n, column.data()[i]));
      }
      if constexpr (Workspace) {
        static_assert(ops::scan_workspace_bytes<Axis, decltype(x), decltype(y)>() > 0);
        auto ws = shared_tensor<float>(cta_shared(), RowMajor<kWorkspace / 4>{}, RowMajor<kWorkspace / 4>{});
        ops::scan<Op, Axis, Exclusive>(x, y, Int<Axis>{}, ws);
      } else {
        static_assert(ops::scan_workspace_bytes<Axis, decltype(x), decltype(y)>() == 0);
        ops::scan<Op, Axis, Exclusive>(x, y, Int<Axis>{});
      }
      for (int i = 0; i < cute::size(y.engine); ++i) {
        int const r = row.data()[i], c = column.data()[i], at = Axis == 0 ? r : c;
        double expected = convert<double>(detail::Reducer<Op>::template identity<T>());
        for (int k = 0; k < at + (Exclusive ? 0 : 1); ++k) {
          expected = combine(Op{}, expected, value_at((Axis == 0 ? k : r) + n, Axis == 0 ? c : k));
        }
        ASSERT_EQ(convert<double>(y.data()[i]), expected) << r << ", " << c << ", repetition " << n;
        ++seen[r * Columns + c];
      }
    }
  });
  for (int count : seen) EXPECT_GT(count, 0);
}

template <int Rows, int Columns, int Axis, bool Workspace, class SL>
void check_kinds() {
  check<op::sum, float, Rows, Columns, Axis, false, Workspace, SL>();
  check<op::sum, int64_t, Rows, Columns, Axis, true, Workspace, SL>();
  check<op::max, float, Rows, Columns, Axis, false, Workspace, SL>();
  check<op::min, double, Rows, Columns, Axis, true, Workspace, SL>();
}

#if TEST_THREADS == 128

using Warps = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;

TEST(Scan, WithinAThread) {
  using SL = ShardLayout<Layout<Shape<_4, _32, _3>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, Warps>;
  check_kinds<128, 3, 1, false, SL>();
  // The other axis first: columns of a thread.
  using Tall =
      ShardLayout<Layout<Shape<cute::_5, _4, _32>, Stride<_1, _0, _0>>, cute::tuple<S<1>, S<2>>, Warps>;
  check_kinds<5, 128, 0, false, Tall>();
}

TEST(Scan, OverTheLanesOfAWarp) {
  using Chunks = ShardLayout<Layout<Shape<_4, _32, _3>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, Warps>;
  check_kinds<4, 96, 1, false, Chunks>();
  using Interleaved =
      ShardLayout<Layout<Shape<_4, _3, _32>, Stride<_0, _1, _0>>, cute::tuple<S<0>, S<2>>, Warps>;
  check_kinds<4, 96, 1, false, Interleaved>();
  using Both =
      ShardLayout<Layout<Shape<_4, _3, _32, _2>, Stride<_0, _2, _0, _1>>, cute::tuple<S<0>, S<2>>, Warps>;
  check_kinds<4, 192, 1, false, Both>();
}

TEST(Scan, AnAccumulatorAlongEitherAxis) {
  using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
  using Accumulator = ShardLayout<Layout<Shape<_4, _2, _8, _2, _4, _2>, Stride<_0, _4, _0, _2, _0, _1>>,
                                  cute::tuple<S<0>, S<2>, S<4>>, Threads>;
  check_kinds<64, 16, 1, false, Accumulator>();
  check_kinds<64, 16, 0, true, Accumulator>();
}

TEST(Scan, OverWarpsThroughAWorkspace) {
  using SL =
      ShardLayout<Layout<Shape<_2, _4, _32, _2>, Stride<_2, _0, _0, _1>>, cute::tuple<S<1>, S<2>>, Warps>;
  check_kinds<2, 256, 1, true, SL>();
  using Row = ShardLayout<Layout<Shape<_4, _2, _32>, Stride<_0, _1, _0>>, cute::tuple<S<0>, S<2>>, Warps>;
  check_kinds<8, 32, 0, true, Row>();
  using Linear = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  using All = ShardLayout<Layout<Shape<_1, Int<128>>, Stride<_0, _0>>, cute::tuple<S<1>>, Linear>;
  check<op::sum, float, 1, 128, 1, false, true, All>(50);
}

TEST(Scan, ASliceScansWithinItsWarps) {
  // The second half of the CTA alone: two rows of 32, a lane each.
  using Half = MeshSlice<ThreadSlice<64, 64>, Layout<Shape<_2, _32>, Stride<_32, _1>>>;
  using SL = ShardLayout<Layout<Shape<_2, _32>, Stride<_0, _0>>, cute::tuple<S<0>, S<1>>, Half>;
  launch(1, 0, [&] {
    if (!ThreadSlice<64, 64>::contains()) return;
    auto x = register_tensor<int32_t>(RowMajor<2, 32>{}, SL{});
    auto y = register_tensor<int32_t>(RowMajor<2, 32>{}, SL{});
    ops::iota(x, _1{}, 1, 1);
    ops::scan<op::sum, 1>(x, y, _1{});
    int const n = program_id<kThread>() % 32 + 1;
    EXPECT_EQ(y.data()[0], n * (n + 1) / 2);
  });
}

TEST(Scan, ReplicasAreEqual) {
  using SL = ShardLayout<Layout<Shape<_2, _32>, Stride<_1, _0>>, cute::tuple<B, S<1>>, Warps>;
  check_kinds<2, 32, 1, false, SL>();
}

TEST(Scan, SmallFloatsAccumulateInF32AndRoundOnce) {
  using SL = ShardLayout<Layout<Shape<_4, _32>, Stride<_0, _0>>, cute::tuple<S<0>, S<1>>, Warps>;
  launch(1, 0, [] {
    auto x = register_tensor<cute::bfloat16_t>(RowMajor<4, 32>{}, SL{});
    int const lane = program_id<kThread>() % 32;
    ops::fill(x, lane == 0 ? 512.f : 1.f);
    ops::scan<op::sum, 1>(x, x, _1{});  // in place
    EXPECT_EQ(convert<float>(x.data()[0]), convert<float>(cute::bfloat16_t(512.f + lane)));
    auto y = register_tensor<float>(RowMajor<4, 32>{}, SL{});
    ops::fill(y, lane == 3 ? std::numeric_limits<float>::quiet_NaN() : 1.f);
    ops::scan<op::max, 1>(y, y, _1{});
    EXPECT_EQ(y.data()[0] != y.data()[0], lane >= 3);
  });
}

#elif TEST_THREADS == 48

TEST(Scan, NumbersOfLanesThatAreNoPowerOfTwo) {
  using M = Mesh<Layout<Shape<Int<12>, _4>, Stride<_4, _1>>, kThread>;
  using SL =
      ShardLayout<Layout<Shape<Int<12>, _2, _4, _3>, Stride<_0, _3, _0, _1>>, cute::tuple<S<0>, S<2>>, M>;
  check_kinds<12, 24, 1, false, SL>();
  check_kinds<12, 24, 0, true, SL>();
}

#else
#error "no cases for this number of threads"
#endif

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
