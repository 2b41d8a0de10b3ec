// ops::transpose and ops::topk against loops over logical coordinates.
#include <algorithm>
#include <limits>
#include <numeric>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Warps = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;

/// Transposes a fragment of x[i, j, k] = 100 i + 10 j + k twice, by Perm and back.
template <class T, int I, int J, int K, class Perm, class Back, class Src, class GL, class Dst>
void check_transpose() {
  std::vector<int> seen(I * J * K, 0);
  launch(1, 32768, [&] {
    auto x = register_tensor<T>(RowMajor<I, J, K>{}, Src{});
    auto again = register_tensor<T>(RowMajor<I, J, K>{}, Src{});
    auto y = register_tensor<T>(GL{}, Dst{});
    using Bytes = RowMajor<32768>;
    auto ws = shared_tensor<uint8_t>(cta_shared(), Bytes{}, Bytes{});
    static_assert(ops::transpose_workspace_bytes<decltype(x)>() <= 32768);
    int32_t at[3][64];
    auto const note = [&](auto const& tensor, auto axis) {
      using F = detail::FragmentOf<detail::remove_cvref_t<decltype(tensor)>>;
      constexpr int a = decltype(axis)::value;
      for (int i = 0; i < F::count; ++i) {
        at[a][i] = F::template origin<a>(tensor.shard_layout.mesh.local_index()) +
                   decltype(F::template steps<a>()){}(i);
      }
    };
    note(x, _0{}), note(x, _1{}), note(x, _2{});
    auto const in = detail::elements(x);
    for (int i = 0; i < detail::FragmentOf<decltype(x)>::count; ++i) {
      in(i) = convert<T>(100 * at[0][i] + 10 * at[1][i] + at[2][i]);
    }
    ops::transpose<Perm>(x, y, ws);
    note(y, _0{}), note(y, _1{}), note(y, _2{});
    auto const out = detail::elements(y);
    for (int i = 0; i < detail::FragmentOf<decltype(y)>::count; ++i) {
      int from[3];
      for (int a = 0; a < 3; ++a) from[Perm::of(a)] = at[a][i];
      ASSERT_EQ(convert<double>(out(i)), convert<double>(convert<T>(100 * from[0] + 10 * from[1] + from[2])));
      ++seen[(from[0] * J + from[1]) * K + from[2]];
    }
    ops::transpose<Back>(y, again, ws);
    auto const back = detail::elements(again);
    for (int i = 0; i < detail::FragmentOf<decltype(x)>::count; ++i) {
      ASSERT_EQ(convert<double>(back(i)), convert<double>(in(i)));
    }
  });
  for (int count : seen) EXPECT_GT(count, 0);
}

TEST(Transpose, BetweenLayouts) {
  using Accumulator =
      ShardLayout<Layout<Shape<_1, _4, _2, _8, _2, _4, _2>, Stride<_0, _0, _4, _0, _2, _0, _1>>,
                  cute::tuple<S<1>, S<3>, S<5>>, Threads>;
  using Turned = ShardLayout<Layout<Shape<_4, _4, _2, _32, _1>, Stride<_0, _2, _1, _0, _0>>,
                             cute::tuple<S<0>, S<3>>, Warps>;
  // (1, 64, 16) to (16, 64, 1), columns over the warps.
  check_transpose<float, 1, 64, 16, Permutation<2, 1, 0>, Permutation<2, 1, 0>, Accumulator,
                  RowMajor<16, 64, 1>, Turned>();
  check_transpose<cute::half_t, 1, 64, 16, Permutation<2, 1, 0>, Permutation<2, 1, 0>, Accumulator,
                  RowMajor<16, 64, 1>, Turned>();
}

TEST(Transpose, OfThreeAxesAndReplicas) {
  // (3, 4, 32) over lanes, the same in all warps, to (32, 3, 4) over threads.
  using Src = ShardLayout<Layout<Shape<_3, _4, _32>, Stride<_4, _1, _0>>, cute::tuple<B, S<2>>, Warps>;
  using Dst = ShardLayout<Layout<Shape<_32, _3, _4>, Stride<_0, _1, _0>>, cute::tuple<S<2>, S<0>>, Warps>;
  check_transpose<int32_t, 3, 4, 32, Permutation<2, 0, 1>, Permutation<1, 2, 0>, Src, RowMajor<32, 3, 4>,
                  Dst>();
  check_transpose<int8_t, 3, 4, 32, Permutation<2, 0, 1>, Permutation<1, 2, 0>, Src, RowMajor<32, 3, 4>,
                  Dst>();
}

/// The first K of the columns (or rows) of a tile, with repeated elements and NaN among them.
template <class T, bool Largest, int Axis, int R, int C, int K>
void check_topk() {
  constexpr int extent = Axis == 0 ? R : C, others = Axis == 0 ? C : R;
  std::vector<T> x(R * C);
  for (int i = 0; i < R * C; ++i) x[i] = convert<T>((i * 29 + i / 7) % 13 - 6);
  if (std::numeric_limits<float>::has_quiet_NaN && detail::is_float_v<T>) {
    x[3] = x[R * C / 2] = convert<T>(std::numeric_limits<float>::quiet_NaN());
  }
  constexpr int rows = Axis == 0 ? K : R, columns = Axis == 0 ? C : K;
  std::vector<T> values(rows * columns);
  std::vector<int64_t> places(rows * columns, -1);
  launch(2, 0, [&] {
    auto const window = [](auto& data, int64_t r, int64_t c) {
      using E = detail::remove_cvref_t<decltype(data[0])>;
      GlobalArg<2> arg{data.data(), {r, c}, {c, 1}};
      return make_window<Axes<0, 1>>(global_tensor<E, false>(arg, make_shape(r, c)), make_coord(0, 0),
                                     make_shape(r, c));
    };
    ops::topk<Largest>(window(x, R, C), window(values, rows, columns), window(places, rows, columns),
                       Int<Axis>{}, share_of_grid());
  });
  for (int o = 0; o < others; ++o) {
    auto const at = [&](int i) { return Axis == 0 ? i * C + o : o * C + i; };
    std::vector<int> order(extent);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      double const p = convert<double>(x[at(a)]), q = convert<double>(x[at(b)]);
      if (p != p || q != q) return Largest ? p != p && q == q : q != q && p == p;
      return Largest ? p > q : p < q;
    });
    for (int k = 0; k < K; ++k) {
      int const i = Axis == 0 ? k * C + o : o * K + k;
      ASSERT_EQ(places[i], order[k]) << "column " << o << ", rank " << k;
      double const expected = convert<double>(x[at(order[k])]), got = convert<double>(values[i]);
      ASSERT_TRUE(got == expected || (got != got && expected != expected));
    }
  }
}

TEST(TopK, IsStableAndPutsNaNLast) {
  check_topk<float, true, 1, 5, 50, 7>();
  check_topk<float, false, 1, 5, 50, 50>();
  check_topk<double, true, 0, 33, 6, 33>();
  check_topk<cute::half_t, false, 0, 20, 9, 1>();
  check_topk<cute::bfloat16_t, true, 1, 3, 300, 20>();
  check_topk<int32_t, true, 1, 4, 40, 40>();
  check_topk<int64_t, false, 0, 40, 4, 8>();
  check_topk<uint8_t, true, 1, 4, 40, 3>();
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
