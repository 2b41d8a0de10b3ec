// Logical coordinates of fragments, against a table of the m16n8 accumulator written from its definition.
#include "accumulator.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// Rows and columns that each thread's registers stand for, in storage order.
template <int Rows, int Columns, class SL>
std::vector<std::vector<std::pair<int, int>>> places() {
  std::vector<std::vector<std::pair<int, int>>> all(kThreads);
  launch(1, 0, [&] {
    auto row = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, SL{});
    auto column = register_tensor<int32_t>(RowMajor<Rows, Columns>{}, SL{});
    ops::iota(row, Int<0>{}, 0, 1);
    ops::iota(column, Int<1>{}, 0, 1);
    for (int i = 0; i < cute::size(row.engine); ++i) {
      all[program_id<kThread>()].emplace_back(row.data()[i], column.data()[i]);
    }
  });
  return all;
}

TEST(Fragment, AccumulatorOf64By64) {
  auto const all = places<64, 64, Accumulator<64>>();
  for (int thread = 0; thread < 128; ++thread) {
    int const warp = thread / 32, lane = thread % 32;
    ASSERT_EQ(all[thread].size(), 32u);
    for (int i = 0; i < 32; ++i) {
      // PTX: rows groupID and groupID + 8 in the lower and upper pair of each atom; columns 2 *
      // threadID_in_group, + 1.
      int const half = i / 16, atom = i % 16 / 2, element = i % 2;
      EXPECT_EQ(all[thread][i].first, warp * 16 + lane / 4 + half * 8);
      EXPECT_EQ(all[thread][i].second, atom * 8 + lane % 4 * 2 + element);
    }
  }
}

TEST(Fragment, ElementsCoverTheTensorOnce) {
  std::vector<int> count(64 * 32, 0);
  for (auto const& mine : places<64, 32, Accumulator<32>>()) {
    for (auto [row, column] : mine) ++count.at(row * 32 + column);
  }
  EXPECT_EQ(count, std::vector<int>(64 * 32, 1));
}

TEST(Fragment, AccumulatorLayoutsAreRecognised) {
  using Tile = ShardTensor<cute::Tensor<cute::ViewEngine<cute::smem_ptr<cute::half_t*>>, RowMajor<64, 64>>,
                           RowMajor<64, 64>, WholeLayout<RowMajor<64, 64>>>;
  using Engine = cute::Tensor<detail::RegisterEngine<float, 64>, Layout<Int<64>>>;
  auto recognised = [](auto logical, auto sl) {
    return detail::is_m16n8_fragment<Tile, ShardTensor<Engine, decltype(logical), decltype(sl)>>();
  };
  EXPECT_TRUE(recognised(RowMajor<64, 64>{}, Accumulator<64>{}));
  EXPECT_TRUE(recognised(RowMajor<64, 128>{}, Accumulator<128>{}));
  // Two warps by two: warps also spread over columns.
  using Square = Mesh<Layout<Shape<_2, _2, _8, _4>, Stride<Int<64>, _32, _4, _1>>, kThread>;
  EXPECT_TRUE(
      recognised(RowMajor<32, 32>{},
                 ShardLayout<Layout<Shape<_2, _2, _8, _2, _2, _4, _2>, Stride<_0, _4, _0, _0, _2, _0, _1>>,
                             cute::tuple<S<0>, S<3>, S<2>, S<5>>, Square>{}));
  // All warps hold all rows: replicas.
  EXPECT_TRUE(recognised(RowMajor<16, 8>{}, ShardLayout<Layout<Shape<_2, _8, _4, _2>, Stride<_2, _0, _0, _1>>,
                                                        cute::tuple<B, S<1>, S<2>>, Threads>{}));
  // Rows and columns exchanged within the lanes.
  EXPECT_FALSE(
      recognised(RowMajor<64, 64>{},
                 ShardLayout<Layout<Shape<_4, _2, _4, _2, _8, _8>, Stride<_0, Int<16>, _0, _8, _0, _1>>,
                             cute::tuple<S<0>, S<4>, S<2>>, Threads>{}));
  // Neighbouring columns on neighbouring lanes.
  EXPECT_FALSE(
      recognised(RowMajor<64, 64>{},
                 ShardLayout<Layout<Shape<_4, _2, _8, _8, _2, _4>, Stride<_0, Int<16>, _0, _2, _1, _0>>,
                             cute::tuple<S<0>, S<2>, S<5>>, Threads>{}));
  // Rows of an atom next to each other instead of 8 apart.
  EXPECT_FALSE(
      recognised(RowMajor<64, 64>{},
                 ShardLayout<Layout<Shape<_4, _8, _2, _8, _4, _2>, Stride<_0, _0, Int<16>, _2, _0, _1>>,
                             cute::tuple<S<0>, S<1>, S<4>>, Threads>{}));
}

TEST(Fragment, RowVectorIsReplicatedOverTheColumns) {
  using SL =
      ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>, cute::tuple<S<0>, S<2>, B>, Threads>;
  auto const all = places<64, 1, SL>();
  for (int thread = 0; thread < 128; ++thread) {
    int const row = thread / 32 * 16 + thread % 32 / 4;
    EXPECT_EQ(all[thread], (std::vector<std::pair<int, int>>{{row, 0}, {row + 8, 0}}));
  }
}

TEST(Fragment, PaddedRegistersKeepTheirPlaces) {
  using SL = ShardLayout<Layout<Shape<Int<128>, _4>, Stride<_0, _2>>, cute::tuple<S<0>>,
                         Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>>;
  auto fragment = register_tensor<float>(RowMajor<128, 4>{}, SL{});
  static_assert(decltype(cute::size(fragment.engine))::value == 7);
  launch(1, 0, [&] {
    auto mine = register_tensor<float>(RowMajor<128, 4>{}, SL{});
    ops::iota(mine, Int<1>{}, 0.f, 1.f);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(mine.data()[2 * i], float(i));
  });
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
