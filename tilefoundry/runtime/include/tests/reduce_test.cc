// ops::reduce over meshes, against a reduction over logical coordinates. Values are small integers, so that
// every order of summation gives the same result in f32.
#include <cmath>
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

constexpr int kWorkspace = 16384;

int value_at(int row, int column) { return (row * 37 + column * 11 + row * column) % 23 - 11; }

struct Sum {
  using Op = op::sum;
  static double start() { return 0; }
  static double step(double a, double b) { return a + b; }
};
struct Max {
  using Op = op::max;
  static double start() { return -HUGE_VAL; }
  static double step(double a, double b) { return std::max(a, b); }
};
struct Min {
  using Op = op::min;
  static double start() { return HUGE_VAL; }
  static double step(double a, double b) { return std::min(a, b); }
};
struct AbsMax {
  using Op = op::absmax;
  static double start() { return 0; }
  static double step(double a, double b) { return std::max(a, std::fabs(b)); }
};

/// Reduces a Rows x Columns matrix of value_at along Axis, and checks the result that every instance holds.
/// Repetitions have different values, so that what one leaves behind in the workspace is wrong for the next.
template <class R, class T, int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
void check(int repetitions = 1) {
  constexpr int kept_rows = Axis == 0 ? 1 : Rows, kept_columns = Axis == 1 ? 1 : Columns, variants = 3;
  std::vector<double> expected[variants];
  for (int n = 0; n < variants; ++n) {
    expected[n].assign(kept_rows * kept_columns, R::start());
    for (int r = 0; r < Rows; ++r) {
      for (int c = 0; c < Columns; ++c) {
        double& e = expected[n][Axis == 0 ? c : r];
        e = R::step(e, value_at(r + n, c));
      }
    }
  }
  std::vector<int> seen(expected[0].size(), 0);
  launch(1, kWorkspace, [&] {
    auto x = register_tensor<T>(RowMajor<Rows, Columns>{}, Src{});
    auto row = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, Src{});
    auto column = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, Src{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    auto y = register_tensor<T>(RowMajor<kept_rows, kept_columns>{}, Dst{});
    auto where = register_tensor<int32_t>(RowMajor<kept_rows, kept_columns>{}, Dst{});
    ops::iota(where, Int<1 - Axis>{}, 0, 1);
    using Op = typename R::Op;
    for (int n = 0; n < repetitions; ++n) {
      for (int i = 0; i < cute::size(x.engine); ++i) {
        x.data()[i] = convert<T>(value_at(row.data()[i] + n % variants, column.data()[i]));
      }
      ops::fill(y, std::numeric_limits<float>::quiet_NaN());
      if constexpr (Workspace) {
        static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() > 0);
        static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() <= kWorkspace);
        auto ws = shared_tensor<float>(cta_shared(), RowMajor<kWorkspace / 4>{}, RowMajor<kWorkspace / 4>{});
        ops::reduce<Op, Axes<Axis>>(x, y, ws);
      } else {
        static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() == 0);
        ops::reduce<Op, Axes<Axis>>(x, y);
      }
      for (int i = 0; i < cute::size(y.engine); ++i) {
        ASSERT_EQ(convert<double>(y.data()[i]), expected[n % variants][where.data()[i]])
            << "element " << where.data()[i] << ", thread " << program_id<kThread>() << ", repetition " << n;
        ++seen[where.data()[i]];
      }
    }
  });
  for (int count : seen) EXPECT_GT(count, 0);
}

template <class T, int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
void check_ops() {
  check<Sum, T, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<Max, T, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<Min, T, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<AbsMax, T, Rows, Columns, Axis, Workspace, Src, Dst>();
}

template <int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
void check_types() {
  check_ops<float, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<Sum, double, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<Sum, int32_t, Rows, Columns, Axis, Workspace, Src, Dst>();
  check<Max, cute::half_t, Rows, Columns, Axis, Workspace, Src, Dst>();
}

#if TEST_THREADS == 128

using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
using Accumulator = ShardLayout<Layout<Shape<_4, _2, _8, _4, _4, _2>, Stride<_0, _8, _0, _2, _0, _1>>,
                                cute::tuple<S<0>, S<2>, S<4>>, Threads>;

TEST(Reduce, RowsOfAnAccumulatorWithinQuads) {
  using Column =
      ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>, cute::tuple<S<0>, S<2>, B>, Threads>;
  check_types<64, 32, 1, false, Accumulator, Column>();
}

TEST(Reduce, ColumnsOfAnAccumulatorAcrossWarps) {
  using Row =
      ShardLayout<Layout<Shape<_1, _4, _4, _2>, Stride<_0, _2, _0, _1>>, cute::tuple<B, B, S<2>>, Threads>;
  check_types<64, 32, 0, true, Accumulator, Row>();
}

template <int Lanes, int Step>
using LaneMesh = Mesh<
    Layout<Shape<Int<128 / Lanes / Step>, Int<Lanes>, Int<Step>>, Stride<Int<Lanes * Step>, Int<Step>, _1>>,
    kThread>;

/// Rows over the outer axes, columns over `Lanes` lanes `Step` apart.
template <int Lanes, int Step>
void check_lanes() {
  constexpr int outer = 128 / Lanes / Step;
  using M = LaneMesh<Lanes, Step>;
  using Src = ShardLayout<Layout<Shape<Int<outer>, Int<Step>, Int<Lanes>, _3>, Stride<_0, _0, _0, _1>>,
                          cute::tuple<S<0>, S<2>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<Int<outer>, Int<Step>, _1>, Stride<_0, _0, _0>>,
                          cute::tuple<S<0>, B, S<1>>, M>;
  check_ops<float, outer * Step, Lanes * 3, 1, (Lanes * Step > 32), Src, Dst>();
}

TEST(Reduce, LaneGroupsOfAnyPowerOfTwoAndStep) {
  check_lanes<2, 1>();
  check_lanes<2, 16>();
  check_lanes<4, 1>();
  check_lanes<4, 8>();
  check_lanes<8, 2>();
  check_lanes<8, 4>();
  check_lanes<16, 2>();
  check_lanes<32, 1>();
}

TEST(Reduce, GroupsThatStraddleWarps) {
  check_lanes<64, 1>();
  check_lanes<128, 1>();
  check_lanes<16, 8>();
  check_lanes<4, 32>();
  check_lanes<2, 64>();
  check_lanes<32, 2>();
}

TEST(Reduce, ReplicasCountOnce) {
  // Every warp holds the same rows: only the lanes' part is summed.
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_2, _32>, Stride<_1, _0>>, cute::tuple<B, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_2, _1>, Stride<_1, _0>>, cute::tuple<B, B>, M>;
  check_types<2, 32, 1, false, Src, Dst>();
  // The same with the lanes as replicas, over the warps.
  using Rows = ShardLayout<Layout<Shape<_4, _3>, Stride<_0, _1>>, cute::tuple<S<0>, B>, M>;
  using Row = ShardLayout<Layout<Shape<_1, _3>, Stride<_0, _1>>, cute::tuple<B, B>, M>;
  check_types<4, 3, 0, true, Rows, Row>();
}

TEST(Reduce, WithinAThread) {
  using M = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<Int<128>, cute::_5>, Stride<_0, _1>>, cute::tuple<S<0>>, M>;
  using Dst = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, M>;
  check_types<128, 5, 1, false, Src, Dst>();
}

TEST(Reduce, AWorkspaceServesTheNextReductionAtOnce) {
  using M = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_2, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_2, _1>, Stride<_1, _0>>, cute::tuple<B>, M>;
  check<Sum, float, 2, 128, 1, true, Src, Dst>(1000);
  // Without exchanges among lanes nothing but the workspace's own barriers keeps warps apart.
  using Warps = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using Rows = ShardLayout<Layout<Shape<_4, _3>, Stride<_0, _1>>, cute::tuple<S<0>, B>, Warps>;
  using Row = ShardLayout<Layout<Shape<_1, _3>, Stride<_0, _1>>, cute::tuple<B, B>, Warps>;
  check<Sum, float, 4, 3, 0, true, Rows, Row>(1000);
}

TEST(Reduce, OtherKinds) {
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_4, _32>, Stride<_0, _0>>, cute::tuple<S<0>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_4, _1>, Stride<_0, _0>>, cute::tuple<S<0>, B>, M>;
  launch(1, 0, [] {
    int const t = program_id<kThread>();
    auto x = register_tensor<float>(RowMajor<4, 32>{}, Src{});
    auto y = register_tensor<float>(RowMajor<4, 1>{}, Dst{});
    ops::fill(x, static_cast<float>(t % 32));
    ops::reduce<op::mean, Axes<1>>(x, y);
    EXPECT_EQ(y.data()[0], 15.5f);
    ops::fill(x, t % 32 < 5 ? 2.f : 1.f);
    ops::reduce<op::prod, Axes<1>>(x, y);
    EXPECT_EQ(y.data()[0], 32.f);
    ops::fill(x, t == 40 ? std::numeric_limits<float>::quiet_NaN() : 1.f);
    ops::reduce<op::max, Axes<1>>(x, y);
    EXPECT_EQ(std::isnan(y.data()[0]), t / 32 == 1);
    ops::reduce<op::min, Axes<1>>(x, y);
    EXPECT_EQ(std::isnan(y.data()[0]), t / 32 == 1);
    auto a = register_tensor<bool>(RowMajor<4, 32>{}, Src{});
    auto b = register_tensor<bool>(RowMajor<4, 1>{}, Dst{});
    ops::fill(a, t == 70);
    ops::reduce<op::any, Axes<1>>(a, b);
    EXPECT_EQ(b.data()[0], t / 32 == 2);
    ops::fill(a, t != 70);
    ops::reduce<op::all, Axes<1>>(a, b);
    EXPECT_EQ(b.data()[0], t / 32 != 2);
  });
}

TEST(Reduce, SmallFloatsAccumulateInF32) {
  using M = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<Int<128>, Int<64>>, Stride<_0, _1>>, cute::tuple<S<0>>, M>;
  using Dst = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, M>;
  launch(1, 0, [] {
    auto x = register_tensor<cute::bfloat16_t>(RowMajor<128, 64>{}, Src{});
    auto y = register_tensor<float>(RowMajor<128, 1>{}, Dst{});
    ops::fill(x, 1.f);
    x.data()[0] = cute::bfloat16_t(512.f);
    ops::reduce<op::sum, Axes<1>>(x, y);
    EXPECT_EQ(y.data()[0], 575.f);  // in bf16 the sum would stay at 512
  });
}

TEST(Reduce, PlainTensorsAndDroppedAxes) {
  launch(1, 0, [] {
    float values[6] = {1, 2, 3, 4, 5, 6}, results[2];
    auto x = cute::make_tensor(&values[0], RowMajor<2, 3>{});
    auto y = cute::make_tensor(&results[0], RowMajor<2>{});
    ops::reduce<op::sum, Axes<1>>(x, y);
    EXPECT_EQ(results[0], 6.f);
    EXPECT_EQ(results[1], 15.f);
  });
}

#elif TEST_THREADS == 192

TEST(Reduce, RowOverSixWarps) {
  using M = Mesh<Layout<Shape<cute::_6, _32>, Stride<_32, _1>>, kThread>;
  using Src =
      ShardLayout<Layout<Shape<_1, cute::_6, _32, _8>, Stride<_0, _0, _0, _1>>, cute::tuple<S<1>, S<2>>, M>;
  using Dst = ShardLayout<Layout<Shape<_1, _1>, Stride<_0, _0>>, cute::tuple<B, B>, M>;
  check_types<1, 1536, 1, true, Src, Dst>();
}

TEST(Reduce, MixOfKeptAndReducedAxes) {
  // Warps 3 x 2: rows over three, columns over two and over eight lanes; the other four lanes are rows.
  using M = Mesh<Layout<Shape<_3, _2, _8, _4>, Stride<Int<64>, _32, _4, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_3, _4, _2, _2, _8>, Stride<_0, _0, _1, _0, _0>>,
                          cute::tuple<S<0>, S<3>, S<4>, S<1>>, M>;
  using Dst =
      ShardLayout<Layout<Shape<_3, _4, _2, _1>, Stride<_0, _0, _1, _0>>, cute::tuple<S<0>, B, B, S<1>>, M>;
  check_types<24, 16, 1, true, Src, Dst>();
}

TEST(Reduce, KeptAxesMayCutWarpsAnywhere) {
  // Rows lie a warp and a half apart; columns over three half warps, which no power of two counts.
  using M = Mesh<Layout<Shape<_4, _3, cute::_16>, Stride<Int<48>, cute::_16, _1>>, kThread>;
  using Src =
      ShardLayout<Layout<Shape<_4, _3, cute::_16>, Stride<_0, _0, _0>>, cute::tuple<S<0>, S<1>, S<2>>, M>;
  using Dst =
      ShardLayout<Layout<Shape<_1, _3, cute::_16>, Stride<_0, _0, _0>>, cute::tuple<B, S<1>, S<2>>, M>;
  check_types<4, 48, 0, true, Src, Dst>();
  // Replicas over as many.
  using Copies = ShardLayout<Layout<Shape<_4, _3>, Stride<_0, _1>>, cute::tuple<S<0>, B, B>, M>;
  using Copy = ShardLayout<Layout<Shape<_1, _3>, Stride<_0, _1>>, cute::tuple<B, B, B>, M>;
  check_types<4, 3, 0, true, Copies, Copy>();
}

#elif TEST_THREADS == 48

TEST(Reduce, AWarpThatIsNotFull) {
  using M = Mesh<Layout<Shape<_3, _16>, Stride<_16, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_3, _16, _2>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_3, _1>, Stride<_0, _0>>, cute::tuple<S<0>, B>, M>;
  check_types<3, 32, 1, false, Src, Dst>();
}

#else
#error "no cases for this number of threads"
#endif

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
