// What ops::reduce accumulates in: f64 for f64, wide enough for integers, f32 for small floats; values at
// which another type would be seen.
#include <cmath>
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Lanes = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
using Linear = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;

/// The reduction of `first` and then `other` in every other element: over a thread's elements, over the lanes
/// of a warp, and over the CTA through a workspace.
template <class Op, class T, class Out>
std::vector<Out> reduced(T first, T other) {
  std::vector<Out> results(3);
  launch(1, 4096, [&] {
    int const t = program_id<kThread>();
    auto const element = [&](int i) { return i == 0 ? first : other; };
    {
      using Four = ShardLayout<Layout<Shape<Int<128>, _4>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;
      using One = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, Linear>;
      auto x = register_tensor<T>(RowMajor<128, 4>{}, Four{});
      auto y = register_tensor<Out>(RowMajor<128, 1>{}, One{});
      for (int i = 0; i < 4; ++i) x.data()[i] = element(i);
      ops::reduce<Op, Axes<1>>(x, y);
      if (t == 5) results[0] = y.data()[0];
    }
    {
      using Row = ShardLayout<Layout<Shape<_4, _32>, Stride<_0, _0>>, cute::tuple<S<0>, S<1>>, Lanes>;
      using One = ShardLayout<Layout<Shape<_4, _1>, Stride<_0, _0>>, cute::tuple<S<0>, B>, Lanes>;
      auto x = register_tensor<T>(RowMajor<4, 32>{}, Row{});
      auto y = register_tensor<Out>(RowMajor<4, 1>{}, One{});
      x.data()[0] = t % 32 < 4 ? element(t % 32) : T(0);
      ops::reduce<Op, Axes<1>>(x, y);
      if (t == 70) results[1] = y.data()[0];
    }
    {
      using All = ShardLayout<Layout<Shape<Int<128>>, Stride<_0>>, cute::tuple<S<0>>, Linear>;
      using One = ShardLayout<Layout<Shape<_1>, Stride<_0>>, cute::tuple<B>, Linear>;
      auto x = register_tensor<T>(RowMajor<128>{}, All{});
      auto y = register_tensor<Out>(RowMajor<1>{}, One{});
      x.data()[0] = t % 32 == 0 ? element(t / 32) : T(0);
      auto ws = shared_tensor<char>(cta_shared(), RowMajor<4096>{}, RowMajor<4096>{});
      ops::reduce<Op, Axes<0>>(x, y, ws);
      if (t == 127) results[2] = y.data()[0];
    }
  });
  return results;
}

template <class T>
std::vector<T> thrice(T value) {
  return {value, value, value};
}

TEST(Accumulate, F64InF64) {
  double const tiny = 0x1p-50;
  EXPECT_EQ((reduced<op::sum, double, double>(1., tiny)), thrice(1. + 3 * tiny));
  EXPECT_EQ((reduced<op::max, double, double>(1., 1. + tiny)), thrice(1. + tiny));
}

TEST(Accumulate, F32AsItIs) {
  EXPECT_EQ((reduced<op::sum, float, float>(1.f, 0x1p-20f)), thrice(1.f + 3 * 0x1p-20f));
  // What f32 cannot hold is not held: the accumulator is not wider by accident of a tier.
  EXPECT_EQ((reduced<op::sum, float, double>(1.f, 0x1p-30f)), thrice(1.));
}

TEST(Accumulate, IntegersExactly) {
  int const beyond_f32 = (1 << 24) + 1;
  EXPECT_EQ((reduced<op::sum, int32_t, int32_t>(beyond_f32, 2)), thrice(beyond_f32 + 6));
  int64_t const beyond_f64 = (int64_t(1) << 53) + 1;
  EXPECT_EQ((reduced<op::sum, int64_t, int64_t>(beyond_f64, 2)), thrice(beyond_f64 + 6));
  EXPECT_EQ((reduced<op::max, int64_t, int64_t>(beyond_f64, beyond_f64 - 1)), thrice(beyond_f64));
  EXPECT_EQ((reduced<op::sum, int8_t, int32_t>(100, 100)), thrice(400)) << "does not wrap at 8 bits";
  EXPECT_EQ((reduced<op::sum, int32_t, int64_t>(std::numeric_limits<int32_t>::max(), 2000000000)),
            thrice(int64_t(std::numeric_limits<int32_t>::max()) + 6000000000))
      << "nor at 32, where the result has 64";
  EXPECT_EQ((reduced<op::sum, uint8_t, uint8_t>(250, 3)), thrice<uint8_t>(3)) << "the result wraps";
}

/// Integers without a sign, in the half of their values that others take for negative.
template <class T>
void check_unsigned() {
  T const half = T(1) << (8 * sizeof(T) - 1), greatest = std::numeric_limits<T>::max();
  EXPECT_EQ((reduced<op::max, T, T>(half, 1)), thrice(half));
  EXPECT_EQ((reduced<op::max, T, T>(half, greatest)), thrice(greatest));
  EXPECT_EQ((reduced<op::absmax, T, T>(half, greatest)), thrice(greatest));
  EXPECT_EQ((reduced<op::min, T, T>(half, greatest)[0]), half);
  EXPECT_EQ((reduced<op::min, T, T>(half, 1)[0]), T(1));
  EXPECT_EQ((reduced<op::sum, T, double>(half, 0)), thrice(static_cast<double>(half)));
  EXPECT_EQ((reduced<op::argmax, T, int32_t>(1, half)[0]), 1);
}

TEST(Accumulate, UnsignedIntegersInTheirOwnOrder) {
  check_unsigned<uint8_t>();
  check_unsigned<uint16_t>();
  check_unsigned<uint32_t>();
  check_unsigned<uint64_t>();
}

template <class T>
void check_small_float(float large) {
  // Half a unit of `large` in T: added one by one in T they would be lost.
  std::vector<float> const sums = reduced<op::sum, T, float>(T(large), T(1.f));
  EXPECT_EQ(sums, thrice(large + 3));
}

TEST(Accumulate, SmallFloatsInF32) {
  check_small_float<cute::half_t>(4096.f);
  check_small_float<cute::bfloat16_t>(512.f);
  check_small_float<cute::float_e4m3_t>(32.f);
  check_small_float<cute::float_e5m2_t>(16.f);
  EXPECT_EQ(
      float((reduced<op::mean, cute::half_t, cute::half_t>(cute::half_t(60000.f), cute::half_t(60000.f))[0])),
      float(cute::half_t(60000.f)))
      << "the sum is beyond f16, the mean is not";
}

TEST(Accumulate, NaNPropagates) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const all_nan = [](std::vector<float> const& values) {
    for (float value : values) EXPECT_TRUE(std::isnan(value)) << value;
  };
  for (bool leads : {true, false}) {
    float const a = leads ? nan : 1.f, b = leads ? 1.f : nan;
    all_nan(reduced<op::sum, float, float>(a, b));
    all_nan(reduced<op::prod, float, float>(a, b));
    all_nan(reduced<op::mean, float, float>(a, b));
    all_nan(reduced<op::max, float, float>(a, b));
    all_nan(reduced<op::min, float, float>(a, b));
    all_nan(reduced<op::absmax, float, float>(a, b));
  }
}

TEST(Accumulate, AllAndAnyOfNumbersThatAreNotZeroOrOne) {
  EXPECT_EQ((reduced<op::any, bool, bool>(false, true)), (thrice<bool>(true)));
  EXPECT_EQ((reduced<op::any, bool, bool>(false, false)), (thrice<bool>(false)));
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
