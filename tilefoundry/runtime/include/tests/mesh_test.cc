// Mesh coordinates against the arithmetic of the program's ids.
#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

constexpr auto kCta = TopologyScope::cta;

template <class M, size_t... I>
std::vector<int> coordinates(M const& mesh, std::index_sequence<I...>) {
  auto const index = mesh.local_index();
  return {static_cast<int>(cute::get<I>(index))...};
}

/// Coordinates of every instance, by cta * threads + thread.
template <class M>
std::vector<std::vector<int>> all_coordinates(M const& mesh, int ctas = 1) {
  std::vector<std::vector<int>> all(static_cast<size_t>(ctas) * kThreads);
  launch(ctas, 0, [&] {
    int const id = program_id<kCta>() * kThreads + program_id<kThread>();
    all[id] = coordinates(mesh, std::make_index_sequence<M::rank>{});
  });
  return all;
}

using V = std::vector<int>;

TEST(Program, StaticLevelIsAConstantAndTheLaunchProvidesTheOther) {
  static_assert(decltype(program_dim<kThread>())::value == kThreads);
  static_assert(std::is_same<decltype(program_shape<kThread>()), Shape<Int<kThreads>>>::value);
  static_assert(!cute::is_static<decltype(program_dim<kCta>())>::value);
  std::vector<int> seen(5, 0);
  launch(5, 0, [&] {
    EXPECT_EQ(program_dim<kCta>(), 5);
    EXPECT_EQ(cute::get<0>(program_shape<kCta>()), 5);
    if (program_id<kThread>() == 0) ++seen[program_id<kCta>()];
  });
  EXPECT_EQ(seen, V(5, 1));
}

TEST(Mesh, RowMajor) {
  auto const all = all_coordinates(Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>{});
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(all[t], (V{t / 32, t / 4 % 8, t % 4})) << t;
}

TEST(Mesh, PermutedStrides) {
  auto const all = all_coordinates(Mesh<Layout<Shape<_4, _32>, Stride<_1, _4>>, kThread>{});
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(all[t], (V{t % 4, t / 4})) << t;
}

TEST(Mesh, MiddleAxisSlowest) {
  auto const all = all_coordinates(Mesh<Layout<Shape<_2, _4, Int<16>>, Stride<Int<16>, _32, _1>>, kThread>{});
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(all[t], (V{t / 16 % 2, t / 32, t % 16})) << t;
}

TEST(Mesh, AxesOfOneAreAlwaysZero) {
  auto const all = all_coordinates(
      Mesh<Layout<Shape<_1, _4, _1, _32, _1>, Stride<Int<0>, _32, Int<0>, _1, Int<0>>>, kThread>{});
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(all[t], (V{0, t / 32, 0, t % 32, 0})) << t;
}

TEST(Mesh, AxesOfOneBesideALaunchProvidedLevel) {
  using M = Mesh<Layout<Shape<_1, _1, _4, _32>, Stride<Int<128>, Int<128>, _32, _1>>, kCta, kThread>;
  static_assert(cute::get<0>(M::topologies) == kCta && cute::get<1>(M::topologies) == kThread);
  static_assert(M::scope<2>() == kThread && M::scope<3>() == kThread);
  auto const all = all_coordinates(M{});
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(all[t], (V{0, 0, t / 32, t % 32})) << t;
  // The run-time axis stands behind one of extent 1.
  using N = Mesh<Layout<Shape<_1, int, Int<128>>, Stride<_0, Int<128>, _1>>, kCta, kThread>;
  N const mesh{cute::make_layout(cute::make_shape(_1{}, 3, Int<128>{}), Stride<_0, Int<128>, _1>{})};
  auto const several = all_coordinates(mesh, 3);
  for (int i = 0; i < 3 * kThreads; ++i) EXPECT_EQ(several[i], (V{0, i / 128, i % 128})) << i;
}

TEST(Mesh, LaunchProvidedCtasTakeWhatThreadsLeave) {
  using M = Mesh<Layout<Shape<int, _4, _32>, Stride<Int<128>, _32, _1>>, kCta, kThread>;
  M const mesh{cute::make_layout(cute::make_shape(3, _4{}, _32{}), Stride<Int<128>, _32, _1>{})};
  static_assert(M::scope<0>() == kCta && M::scope<1>() == kThread && M::scope<2>() == kThread);
  auto const all = all_coordinates(mesh, 3);
  for (int i = 0; i < 3 * kThreads; ++i) EXPECT_EQ(all[i], (V{i / 128, i % 128 / 32, i % 32})) << i;
}

TEST(Mesh, LaunchProvidedCtasInTwoAxes) {
  using M = Mesh<Layout<Shape<_2, _4, Int<128>>, Stride<Int<512>, Int<128>, _1>>, kCta, kThread>;
  auto const all = all_coordinates(M{}, 8);
  for (int i = 0; i < 8 * kThreads; ++i) EXPECT_EQ(all[i], (V{i / 512, i / 128 % 4, i % 128})) << i;
}

TEST(Mesh, ColumnMajorOverBothLevels) {
  using M = Mesh<Layout<Shape<_2, _4, _32>, Stride<_1, _2, _8>>, kCta, kThread>;
  auto const all = all_coordinates(M{}, 2);
  for (int i = 0; i < 2 * kThreads; ++i) EXPECT_EQ(all[i], (V{i / 128, i % 128 % 4, i % 128 / 4})) << i;
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
