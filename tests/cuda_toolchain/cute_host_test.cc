// CuTe's layout algebra compiles with the host compiler alone and computes the right offsets.

#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <set>

namespace {

TEST(CuteHostTest, RowMajorLayout) {
  auto layout = cute::make_layout(cute::make_shape(cute::Int<4>{}, cute::Int<8>{}), cute::LayoutRight{});
  EXPECT_EQ(int(layout(1, 2)), 10);

  float values[32] = {};
  auto tensor = cute::make_tensor(&values[0], layout);
  tensor(1, 2) = 3.0f;
  EXPECT_EQ(values[10], 3.0f);
}

TEST(CuteHostTest, SwizzleIsABijection) {
  auto layout = cute::composition(
      cute::Swizzle<2, 0, 3>{},
      cute::make_layout(cute::make_shape(cute::Int<4>{}, cute::Int<8>{}), cute::LayoutRight{}));
  std::set<int> offsets;
  for (int i = 0; i < cute::size(layout); ++i) offsets.insert(int(layout(i)));
  EXPECT_EQ(offsets.size(), 32u);
  EXPECT_EQ(*offsets.rbegin(), 31);
}

TEST(CuteHostTest, Bfloat16Rounds) { EXPECT_EQ(float(cute::bfloat16_t(1.0f + 1.0f / 1024)), 1.0f); }

}  // namespace
