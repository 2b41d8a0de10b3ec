// local() on the worked shard layouts: its static shape, and which offsets the instances own.
#include <algorithm>
#include <cute/tensor.hpp>
#include <numeric>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_64;
constexpr auto kCta = TopologyScope::cta;

/// Offsets that each instance owns in a shared engine of `size` elements, in CuTe order of the local view.
template <class Logical, class SL>
std::vector<std::vector<int>> owned(Logical logical, SL sl, int size, int ctas = 1) {
  std::vector<float> buffer(size);
  std::vector<std::vector<int>> all(static_cast<size_t>(ctas) * kThreads);
  launch(ctas, 0, [&] {
    auto engine = cute::make_tensor(cute::make_gmem_ptr(buffer.data()), cute::make_layout(size));
    auto part = local(make_shard_tensor(engine, logical, sl));
    static_assert(cute::is_static<decltype(part.layout())>::value);
    auto& mine = all[program_id<kCta>() * kThreads + program_id<kThread>()];
    for (int i = 0; i < cute::size(part); ++i) mine.push_back(static_cast<int>(&part(i) - buffer.data()));
  });
  return all;
}

/// Each element of the engine belongs to exactly one instance.
void expect_partition(std::vector<std::vector<int>> const& all, int size) {
  std::vector<int> count(size, 0);
  for (auto const& mine : all) {
    for (int offset : mine) ++count.at(offset);
  }
  EXPECT_EQ(count, std::vector<int>(size, 1));
}

template <class SL, class LocalShape>
constexpr bool has_local_shape =
    std::is_same<decltype(shard_layout_local_shape(std::declval<SL const&>())), LocalShape>::value;

#if TEST_THREADS == 128

using Mesh3 = Mesh<Layout<Shape<_2, _4, _32>, Stride<Int<128>, _32, _1>>, kCta, kThread>;
using Attrs3 = cute::tuple<S<0>, S<1>, S<3>>;
using G5 = Shape<_2, _4, _3, _32, _4>;

TEST(Local, SharedBufferOverCtasAndThreads) {
  using SL = ShardLayout<Layout<G5, Stride<Int<1536>, Int<384>, Int<128>, _4, _1>>, Attrs3, Mesh3>;
  static_assert(has_local_shape<SL, Shape<_1, _1, _3, _1, _4>>);
  auto const all = owned(RowMajor<2, 1536>{}, SL{}, 3072, 2);
  expect_partition(all, 3072);
  for (int i = 0; i < 256; ++i) {
    int const x = i / 128, y = i % 128 / 32, t = i % 32;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 4; ++b) EXPECT_EQ(all[i][a + 3 * b], 1536 * x + 384 * y + 128 * a + 4 * t + b);
    }
  }
}

TEST(Local, RegistersOfEachThread) {
  using SL = ShardLayout<Layout<G5, Stride<_0, _0, _4, _0, _1>>, Attrs3, Mesh3>;
  static_assert(has_local_shape<SL, Shape<_1, _1, _3, _1, _4>>);
  auto fragment = register_tensor<float>(RowMajor<2, 1536>{}, SL{});
  static_assert(decltype(cute::size(fragment.engine))::value == 12);
  launch(2, 0, [&] {
    auto mine = register_tensor<float>(RowMajor<2, 1536>{}, SL{});
    auto part = local(mine);
    EXPECT_EQ(&part(0), mine.data());
    EXPECT_EQ(part.layout()(cute::make_coord(0, 0, 2, 0, 3)), 11);
  });
}

TEST(Local, RowsOfASharedTileOverWarps) {
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using SL = ShardLayout<Layout<Shape<_4, _64>, Stride<_64, _1>>, cute::tuple<S<0>, B>, M>;
  static_assert(has_local_shape<SL, Shape<_1, _64>>);
  auto const all = owned(RowMajor<4, 64>{}, SL{}, 256);
  for (int t = 0; t < 128; ++t) {
    std::vector<int> row(64);
    std::iota(row.begin(), row.end(), t / 32 * 64);
    EXPECT_EQ(all[t], row) << "replicas of a warp hold one row";
  }
}

TEST(Local, PartialAddsNoOffset) {
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using SL = ShardLayout<Layout<Shape<_32>, Stride<_1>>, cute::tuple<shard::P<op::sum>, S<0>>, M>;
  auto const all = owned(RowMajor<32>{}, SL{}, 32);
  for (int t = 0; t < 128; ++t) EXPECT_EQ(all[t], std::vector<int>{t % 32});
}

TEST(Local, RunTimeStrides) {
  using M = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
  std::vector<float> buffer(128 * 40);
  auto layout =
      cute::make_layout(cute::make_shape(Int<128>{}, _4{}), cute::make_stride(int64_t(40), int64_t(10)));
  ShardLayout<decltype(layout), cute::tuple<S<0>>, M> const sl{layout, {}, {}};
  launch(1, 0, [&] {
    auto engine =
        cute::make_tensor(cute::make_gmem_ptr(buffer.data()), cute::make_layout(int(buffer.size())));
    auto const tensor = make_shard_tensor(engine, RowMajor<128, 4>{}, sl);
    static_assert(std::is_same<decltype(tensor.data()), float*>::value, "data() drops the residency");
    auto part = local(tensor);
    static_assert(cute::is_gmem<decltype(part)::iterator>::value, "local() keeps it");
    EXPECT_EQ(&part(0, 3) - buffer.data(), program_id<kThread>() * 40 + 30);
  });
}

using Spread = ShardLayout<Layout<Shape<_4, _32, _3>, Stride<Int<96>, _3, _1>>, cute::tuple<S<0>, S<1>>,
                           Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>>;
static_assert(std::is_aggregate<Spread>::value && cute::is_layout<Spread>::value);
static_assert(cute::is_static<decltype(Spread{}.shape())>::value && Spread::rank == 3);

/// The tensor is that of all instances together; its partition is what local() gives.
template <class Pointer>
void check_partition(Pointer pointer) {
  auto const tensor = cute::make_tensor(pointer, Spread{});
  using Tensor = std::remove_const_t<decltype(tensor)>;
  static_assert(cute::is_tensor<Tensor>::value && Tensor::rank == 3);
  static_assert(std::is_same<typename Tensor::layout_type, Spread>::value);
  static_assert(decltype(cute::size(tensor))::value == 384 && decltype(cute::size<1>(tensor))::value == 32);
  static_assert(std::is_same<decltype(cute::shape(tensor)), Shape<_4, _32, _3>>::value);
  static_assert(decltype(cute::stride<0>(tensor))::value == 96 && decltype(cute::rank(tensor))::value == 3);
  auto const* const base = cute::raw_pointer_cast(tensor.data());
  EXPECT_EQ(&tensor(1, 2, 1) - base, 96 + 6 + 1);
  auto const part = shard_partition(tensor);
  using Part = std::remove_const_t<decltype(part)>;
  static_assert(
      std::is_same<typename Part::layout_type, Layout<Shape<_1, _1, _3>, Stride<Int<96>, _3, _1>>>::value);
  static_assert(cute::is_smem<typename Part::iterator>::value == cute::is_smem<Pointer>::value);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(&part(i) - base, 3 * program_id<kThread>() + i);
}

TEST(ShardPartition, OfATensorThatCarriesItsDistribution) {
  std::vector<float> buffer(384);
  launch(1, 384 * 4, [&] {
    check_partition(buffer.data());
    check_partition(cute::make_gmem_ptr(buffer.data()));
    check_partition(cute::make_smem_ptr(reinterpret_cast<float*>(cta_shared())));
  });
}

/// Ops and copies take such a tensor as each instance's part of it.
TEST(ShardPartition, OfOperands) {
  std::vector<float> buffer(384, -1.f), sums(128);
  launch(1, 0, [&] {
    auto const tensor = cute::make_tensor(cute::make_gmem_ptr(buffer.data()), Spread{});
    ops::fill(tensor, static_cast<float>(program_id<kThread>()));
    ops::binary(op::add{}, tensor, 0.5f, tensor);
    using Logical = RowMajor<4, 32, 3>;
    using InRegisters = ShardLayout<Layout<Shape<_4, _32, _3>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>,
                                    Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>>;
    auto x = register_tensor<float>(Logical{}, InRegisters{});
    copy(tensor, x);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(x.data()[i], program_id<kThread>() + 0.5f);
    ops::unary(op::neg{}, x, x);
    copy(x, tensor);
    using One = ShardLayout<Layout<Shape<_4, _32, _1>, Stride<_0, _0, _0>>, cute::tuple<S<0>, S<1>>,
                            Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>>;
    auto sum = register_tensor<float>(RowMajor<4, 32, 1>{}, One{});
    ops::reduce<op::sum, Axes<2>>(tensor, sum);
    sums[program_id<kThread>()] = sum.data()[0];
  });
  for (int i = 0; i < 384; ++i) EXPECT_EQ(buffer[i], -0.5f - i / 3);
  for (int t = 0; t < 128; ++t) EXPECT_EQ(sums[t], -1.5f - 3 * t);
}

/// CuTe's own fill and copy take what local() gives.
TEST(Local, CutesAlgorithms) {
  std::vector<float> buffer(384, -1.f), other(384, -1.f);
  launch(1, 0, [&] {
    auto const part_of = [](std::vector<float>& memory) {
      auto const engine = cute::make_tensor(cute::make_gmem_ptr(memory.data()), RowMajor<4, 32, 3>{});
      return local(make_shard_tensor(engine, RowMajor<4, 32, 3>{}, Spread{}));
    };
    auto part = part_of(buffer), copied = part_of(other);
    cute::fill(part, 2.f + program_id<kThread>());
    cute::copy(part, copied);
  });
  for (int i = 0; i < 384; ++i) EXPECT_EQ(buffer[i], 2.f + i / 3);
  EXPECT_EQ(other, buffer);
}

TEST(LocalShape, AxesOnOneModeDivideItTogether) {
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using SL = ShardLayout<Layout<Shape<Int<128>>, Stride<_1>>, cute::tuple<S<0>, S<0>>, M>;
  static_assert(has_local_shape<SL, Shape<_1>>);
  using Replicated = ShardLayout<Layout<Shape<Int<128>>, Stride<_1>>, cute::tuple<B, shard::P<op::sum>>, M>;
  static_assert(has_local_shape<Replicated, Shape<Int<128>>>);
}

#elif TEST_THREADS == 192

using RowMesh = Mesh<Layout<Shape<cute::_6, _32>, Stride<_32, _1>>, kThread>;
using RowG = Shape<_1, cute::_6, _32, _8>;
using RowAttrs = cute::tuple<S<1>, S<2>>;

TEST(Local, RowOverSixWarpsInGlobalMemory) {
  using SL = ShardLayout<Layout<RowG, Stride<Int<1536>, Int<256>, _8, _1>>, RowAttrs, RowMesh>;
  static_assert(has_local_shape<SL, Shape<_1, _1, _1, _8>>);
  auto const all = owned(RowMajor<1, 1536>{}, SL{}, 1536);
  expect_partition(all, 1536);
  for (int t = 0; t < 192; ++t) {
    std::vector<int> run(8);
    std::iota(run.begin(), run.end(), 8 * t);
    EXPECT_EQ(all[t], run);
  }
}

TEST(Local, RowOverSixWarpsInRegisters) {
  using SL = ShardLayout<Layout<RowG, Stride<_0, _0, _0, _1>>, RowAttrs, RowMesh>;
  auto fragment = register_tensor<float>(RowMajor<1, 1536>{}, SL{});
  static_assert(decltype(cute::size(fragment.engine))::value == 8);
}

#elif TEST_THREADS == 32

using WarpMesh = Mesh<Layout<Shape<_4, _8>, Stride<_1, _4>>, kThread>;

template <class SL>
void expect_explicit(SL sl, int size, std::vector<int> (*offsets)(int q, int g)) {
  auto const all = owned(RowMajor<16, 16>{}, sl, size);
  expect_partition(all, size);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(all[t], offsets(t % 4, t / 4)) << t;
}

TEST(Local, TensorCoreOperandA) {
  using SL = ShardLayout<Layout<Shape<_2, _4, _2, _8, _2>, Stride<_1, _2, _8, _16, Int<128>>>,
                         cute::tuple<S<1>, S<3>>, WarpMesh>;
  static_assert(has_local_shape<SL, Shape<_2, _1, _2, _1, _2>>);
  expect_explicit(SL{}, 256, [](int q, int g) {
    int const base = 2 * q + 16 * g;
    return std::vector<int>{base,       base + 1,   base + 8,   base + 9,
                            base + 128, base + 129, base + 136, base + 137};
  });
}

TEST(Local, TensorCoreOperandB) {
  using SL =
      ShardLayout<Layout<Shape<_8, _2, _4, _2>, Stride<_1, _8, _16, _64>>, cute::tuple<S<2>, S<0>>, WarpMesh>;
  static_assert(has_local_shape<SL, Shape<_1, _2, _1, _2>>);
  expect_explicit(SL{}, 128, [](int q, int g) {
    int const base = 16 * q + g;
    return std::vector<int>{base, base + 8, base + 64, base + 72};
  });
}

TEST(Local, TensorCoreAccumulator) {
  using SL =
      ShardLayout<Layout<Shape<_2, _4, _8, _2>, Stride<_1, _2, _8, _64>>, cute::tuple<S<1>, S<2>>, WarpMesh>;
  static_assert(has_local_shape<SL, Shape<_2, _1, _1, _2>>);
  expect_explicit(SL{}, 128, [](int q, int g) {
    int const base = 2 * q + 8 * g;
    return std::vector<int>{base, base + 1, base + 64, base + 65};
  });
}

#else
#error "no cases for this number of threads"
#endif

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
