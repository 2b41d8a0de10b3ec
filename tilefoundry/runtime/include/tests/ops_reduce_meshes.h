// The meshes over which reductions are tested, beside a reduction over logical coordinates. Values are small
// integers, so that every order of summation gives the same result.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;
constexpr int kWorkspace = 16384;

TILEFOUNDRY_DEVICE int value_at(int row, int column) {
  return (row * 37 + column * 11 + row * column) % 23 - 11;
}

/// Reduces a Rows x Columns matrix of value_at along Axis, `repetitions` times on end, and counts the results
/// that are right. Repetitions have different values, so that what one leaves behind in the workspace is
/// wrong for the next. Every mesh has the whole CTA. R has the op, the type of its results, and the result
/// for `count` values.
template <class R, class T, int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
TILEFOUNDRY_DEVICE void check(Recorder& record, int64_t repetitions) {
  constexpr int kept_rows = Axis == 0 ? 1 : Rows, kept_columns = Axis == 1 ? 1 : Columns, variants = 3;
  using Op = typename R::Op;
  auto x = register_tensor<T>(Matrix<Rows, Columns>{}, Src{});
  auto row = register_tensor<int32_t>(Matrix<Rows, Columns>{}, Src{});
  auto column = register_tensor<int32_t>(Matrix<Rows, Columns>{}, Src{});
  ops::iota(row, _0{}, 0, 1);
  ops::iota(column, _1{}, 0, 1);
  auto y = register_tensor<typename R::template Result<T>>(Matrix<kept_rows, kept_columns>{}, Dst{});
  auto where = register_tensor<int32_t>(Matrix<kept_rows, kept_columns>{}, Dst{});
  ops::iota(where, Int<1 - Axis>{}, 0, 1);
  constexpr int inputs = decltype(size(x.engine))::value, outputs = decltype(size(y.engine))::value;
  int expected[variants][outputs];
  TEST_ROLLED
  for (int v = 0; v < variants; ++v) {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < outputs; ++i) {
      int const at = where.data()[i];
      expected[v][i] = R::golden(Axis == 0 ? Rows : Columns, [&](int k) {
        return convert<float>(convert<T>(Axis == 0 ? value_at(k + v, at) : value_at(at + v, k)));
      });
    }
  }
  int64_t const count = Workspace ? repetitions : variants;
  int64_t right = 0;
  TEST_ROLLED
  for (int64_t n = 0; n < count; ++n) {
    int const v = static_cast<int>(n % variants);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < inputs; ++i) {
      x.data()[i] = convert<T>(value_at(row.data()[i] + v, column.data()[i]));
    }
    ops::fill(y, 77);
    if constexpr (Workspace) {
      static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() > 0);
      static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() <= kWorkspace);
      using Words = Layout<Shape<Int<kWorkspace / 4>>, Stride<_1>>;
      auto ws = shared_tensor<float>(cta_shared(), Words{}, Words{});
      ops::reduce<Op, Axes<Axis>>(x, y, ws);
    } else {
      static_assert(ops::reduce_workspace_bytes<Op, Axes<Axis>, decltype(x), decltype(y)>() == 0);
      ops::reduce<Op, Axes<Axis>>(x, y);
    }
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < outputs; ++i) right += convert<double>(y.data()[i]) == expected[v][i];
  }
  record.check(static_cast<float>(right), static_cast<float>(count * outputs));
}

// Cases::ops checks ops of an element type on a mesh, Cases::types on some element types.

#if TEST_THREADS == 128

template <int Lanes, int Step>
using LaneMesh = Mesh<
    Layout<Shape<Int<128 / Lanes / Step>, Int<Lanes>, Int<Step>>, Stride<Int<Lanes * Step>, Int<Step>, _1>>,
    kThread>;

/// Rows over the outer axes, columns over `Lanes` lanes `Step` apart.
template <class Cases, int Lanes, int Step>
TILEFOUNDRY_DEVICE void check_lanes(Recorder& record, int64_t repetitions) {
  constexpr int outer = 128 / Lanes / Step;
  using M = LaneMesh<Lanes, Step>;
  using Src = ShardLayout<Layout<Shape<Int<outer>, Int<Step>, Int<Lanes>, _3>, Stride<_0, _0, _0, _1>>,
                          cute::tuple<S<0>, S<2>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<Int<outer>, Int<Step>, _1>, Stride<_0, _0, _0>>,
                          cute::tuple<S<0>, B, S<1>>, M>;
  Cases::template ops<float, outer * Step, Lanes * 3, 1, (Lanes * Step > 32), Src, Dst>(record, repetitions);
}

template <class Cases>
TILEFOUNDRY_DEVICE void check_all(Recorder& record, int64_t n) {
  // Rows of an accumulator within quads, and its columns across warps.
  using Column =
      ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>, cute::tuple<S<0>, S<2>, B>, Threads>;
  using Row =
      ShardLayout<Layout<Shape<_1, _4, _4, _2>, Stride<_0, _2, _0, _1>>, cute::tuple<B, B, S<2>>, Threads>;
  Cases::template types<64, 32, 1, false, Accumulator<32>, Column>(record, n);
  Cases::template types<64, 32, 0, true, Accumulator<32>, Row>(record, n);
  // Groups of lanes of any power of two and step, within a warp and not.
  check_lanes<Cases, 2, 1>(record, n);
  check_lanes<Cases, 2, 16>(record, n);
  check_lanes<Cases, 4, 1>(record, n);
  check_lanes<Cases, 4, 8>(record, n);
  check_lanes<Cases, 8, 2>(record, n);
  check_lanes<Cases, 8, 4>(record, n);
  check_lanes<Cases, 16, 2>(record, n);
  check_lanes<Cases, 32, 1>(record, n);
  check_lanes<Cases, 64, 1>(record, n);
  check_lanes<Cases, 128, 1>(record, n);
  check_lanes<Cases, 16, 8>(record, n);
  check_lanes<Cases, 4, 32>(record, n);
  check_lanes<Cases, 2, 64>(record, n);
  check_lanes<Cases, 32, 2>(record, n);
  // Replicas count once. Every warp holds the same rows: only the lanes' part is summed.
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_2, _32>, Stride<_1, _0>>, cute::tuple<B, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_2, _1>, Stride<_1, _0>>, cute::tuple<B, B>, M>;
  Cases::template types<2, 32, 1, false, Src, Dst>(record, n);
  // The same with the lanes as replicas, over the warps. Without exchanges among lanes nothing but the
  // workspace's own barriers keeps warps apart.
  using WarpRows = ShardLayout<Layout<Shape<_4, _3>, Stride<_0, _1>>, cute::tuple<S<0>, B>, M>;
  using WarpRow = ShardLayout<Layout<Shape<_1, _3>, Stride<_0, _1>>, cute::tuple<B, B>, M>;
  Cases::template types<4, 3, 0, true, WarpRows, WarpRow>(record, n);
  // The whole CTA, one value for all.
  using All = ShardLayout<Layout<Shape<_2, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, Linear>;
  using Two = ShardLayout<Layout<Shape<_2, _1>, Stride<_1, _0>>, cute::tuple<B>, Linear>;
  Cases::template types<2, 128, 1, true, All, Two>(record, n);
  // Within a thread.
  using Five = ShardLayout<Layout<Shape<Int<128>, _5>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;
  using OneEach = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, Linear>;
  Cases::template types<128, 5, 1, false, Five, OneEach>(record, n);
}

#elif TEST_THREADS == 192

template <class Cases>
TILEFOUNDRY_DEVICE void check_all(Recorder& record, int64_t n) {
  // A row over six warps.
  using M = Mesh<Layout<Shape<_6, _32>, Stride<_32, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_1, _6, _32, _8>, Stride<_0, _0, _0, _1>>, cute::tuple<S<1>, S<2>>, M>;
  using Dst = ShardLayout<Layout<Shape<_1, _1>, Stride<_0, _0>>, cute::tuple<B, B>, M>;
  Cases::template types<1, 1536, 1, true, Src, Dst>(record, n);
  // Warps 3 x 2: rows over three, columns over two and over eight lanes; the other four lanes are rows.
  using Mixed = Mesh<Layout<Shape<_3, _2, _8, _4>, Stride<_64, _32, _4, _1>>, kThread>;
  using MixedSrc = ShardLayout<Layout<Shape<_3, _4, _2, _2, _8>, Stride<_0, _0, _1, _0, _0>>,
                               cute::tuple<S<0>, S<3>, S<4>, S<1>>, Mixed>;
  using MixedDst = ShardLayout<Layout<Shape<_3, _4, _2, _1>, Stride<_0, _0, _1, _0>>,
                               cute::tuple<S<0>, B, B, S<1>>, Mixed>;
  Cases::template types<24, 16, 1, true, MixedSrc, MixedDst>(record, n);
  // Rows over four warps and a half each; columns that are kept over half warps, no power of two of them.
  using Halves = Mesh<Layout<Shape<_4, _3, _16>, Stride<_48, _16, _1>>, kThread>;
  using HalvesSrc =
      ShardLayout<Layout<Shape<_4, _3, _16>, Stride<_0, _0, _0>>, cute::tuple<S<0>, S<1>, S<2>>, Halves>;
  using HalvesDst =
      ShardLayout<Layout<Shape<_1, _3, _16>, Stride<_0, _0, _0>>, cute::tuple<B, S<1>, S<2>>, Halves>;
  Cases::template ops<float, 4, 48, 0, true, HalvesSrc, HalvesDst>(record, n);
}

#elif TEST_THREADS == 48

template <class Cases>
TILEFOUNDRY_DEVICE void check_all(Recorder& record, int64_t n) {
  // A warp that is not full.
  using M = Mesh<Layout<Shape<_3, _16>, Stride<_16, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_3, _16, _2>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_3, _1>, Stride<_0, _0>>, cute::tuple<S<0>, B>, M>;
  Cases::template types<3, 32, 1, false, Src, Dst>(record, n);
}

#else
#error "no cases for this number of threads"
#endif

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
