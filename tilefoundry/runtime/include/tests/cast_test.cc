// Element conversions: every f16, bf16 and fp8 value, and f32 values around all rounding boundaries.
#include <cmath>
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::bfloat16_t;
using cute::float_e4m3_t;
using cute::float_e5m2_t;
using cute::float_ue8m0_t;
using cute::half_t;

/// A small float described by its format; the definitions below use only arithmetic on doubles.
struct Format {
  int exponent_bits, mantissa_bits;
  bool infinities;  ///< e4m3 has none: all ones is NaN, and the top exponent has values
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  double value(uint32_t bits) const {
    int const mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1u));
    int const exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1u));
    double const sign = bits >> (mantissa_bits + exponent_bits) ? -1. : 1.;
    int const top = (1 << exponent_bits) - 1;
    if (infinities && exponent == top) return mantissa ? std::nan("") : sign * HUGE_VAL;
    if (!infinities && exponent == top && mantissa == (1 << mantissa_bits) - 1) return std::nan("");
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias() - mantissa_bits);
    return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias() - mantissa_bits);
  }

  /// Round to nearest, ties to even, as if the exponent had no upper end, then overflow: to infinity, or,
  /// without one, to the largest value.
  double rounded(double x) const {
    if (std::isnan(x) || x == 0 || (infinities && std::isinf(x))) return x;
    double const largest = value(largest_bits());
    if (std::isinf(x)) return std::copysign(largest, x);
    int exponent = std::max(std::ilogb(x), 1 - bias());
    double const unit = std::ldexp(1., exponent - mantissa_bits);
    double const result = std::nearbyint(x / unit) * unit;
    if (std::fabs(result) > largest) return std::copysign(infinities ? HUGE_VAL : largest, x);
    return result;
  }

  uint32_t largest_bits() const {
    uint32_t const top = (1u << exponent_bits) - 1u;
    return infinities ? (top << mantissa_bits) - 1u : (top << mantissa_bits | ((1u << mantissa_bits) - 2u));
  }
};

bool identical(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
void check_format(Format format) {
  uint32_t const values = 1u << (1 + format.exponent_bits + format.mantissa_bits);
  for (uint32_t bits = 0; bits < values; ++bits) {
    T x;
    std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
    double const value = format.value(bits);
    ASSERT_PRED2(identical, convert<double>(x), value) << bits;
    ASSERT_PRED2(identical, convert<double>(convert<T>(convert<float>(x))), value) << bits;
    if (std::isnan(value)) continue;
    // The value, the middle between it and the next, and what lies beside these.
    double const next = format.value(bits + 1);
    for (double base : {value, std::isfinite(next) && std::isfinite(value) ? (value + next) / 2 : value}) {
      float const f = static_cast<float>(base);
      for (float probe : {f, std::nextafterf(f, -HUGE_VALF), std::nextafterf(f, HUGE_VALF)}) {
        ASSERT_PRED2(identical, convert<double>(convert<T>(probe)), format.rounded(probe))
            << bits << " " << probe;
      }
    }
  }
  // What lies beyond the largest value.
  for (float probe : {240.f, 448.f, 456.f, 464.f, 464.1f, 480.f, 57344.f, 61439.f, 61440.f, 65504.f, 65519.f,
                      65520.f, 1e10f, 3e38f, std::numeric_limits<float>::max(), HUGE_VALF}) {
    for (float signed_probe : {probe, -probe}) {
      ASSERT_PRED2(identical, convert<double>(convert<T>(signed_probe)), format.rounded(signed_probe))
          << signed_probe;
    }
  }
  EXPECT_TRUE(std::isnan(convert<double>(convert<T>(std::nanf("")))));
}

TEST(Convert, F16) { check_format<half_t>({5, 10, true}); }
TEST(Convert, BF16) { check_format<bfloat16_t>({8, 7, true}); }
TEST(Convert, F8E4M3) { check_format<float_e4m3_t>({4, 3, false}); }
TEST(Convert, F8E5M2) { check_format<float_e5m2_t>({5, 2, true}); }

/// The middle between two powers of two rounds up. Above the least power, torch rounds up whatever is no
/// power.
TEST(Convert, F8E8M0) {
  auto const power = [](int code) { return std::ldexp(1.f, code - 127); };
  for (int code = 0; code < 255; ++code) {
    ASSERT_EQ(convert<float>(float_ue8m0_t::bitcast(static_cast<uint8_t>(code))), power(code));
    float const middle = code == 0 ? std::nextafterf(power(0), 1.f) : 1.5f * power(code);
    float const above = std::nextafterf(middle, HUGE_VALF), below = std::nextafterf(middle, 0.f);
    for (float sign : {1.f, -1.f}) {
      ASSERT_EQ(convert<float_ue8m0_t>(sign * power(code)).storage, code);
      ASSERT_EQ(convert<float_ue8m0_t>(sign * below).storage, code);
      ASSERT_EQ(convert<float_ue8m0_t>(sign * above).storage, code + 1);
      ASSERT_EQ(convert<float_ue8m0_t>(sign * middle).storage, code + 1) << code;
    }
  }
  for (float least : {0.f, -0.f, 1e-45f}) ASSERT_EQ(convert<float_ue8m0_t>(least).storage, 0);
  for (float beyond : {HUGE_VALF, -HUGE_VALF, std::nanf(""), std::numeric_limits<float>::max()}) {
    ASSERT_EQ(convert<float_ue8m0_t>(beyond).storage, 255);
  }
  EXPECT_TRUE(std::isnan(convert<float>(float_ue8m0_t::bitcast(255))));
}

TEST(Convert, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(convert<int32_t>(2.9f), 2);
  EXPECT_EQ(convert<int32_t>(-2.9), -2);
  EXPECT_EQ(convert<int32_t>(3e9f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(convert<int32_t>(-HUGE_VALF), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(convert<int64_t>(1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert<int32_t>(std::nanf("")), 0);
  EXPECT_EQ(convert<int8_t>(-300.f), -128);
  EXPECT_EQ(convert<uint8_t>(-1.f), 0);
  EXPECT_EQ(convert<int32_t>(2147483520.f), 2147483520);
}

TEST(Convert, IntegersAndBool) {
  EXPECT_EQ(convert<int8_t>(int32_t(300)), 44) << "wraps";
  EXPECT_EQ(convert<uint8_t>(int64_t(-1)), 255);
  EXPECT_EQ(convert<bool>(0.5f), true);
  EXPECT_EQ(convert<bool>(-0.f), false);
  EXPECT_EQ(convert<bool>(std::nanf("")), true);
  EXPECT_EQ(convert<bool>(half_t(0.f)), false);
  EXPECT_EQ(convert<bool>(int64_t(1) << 40), true);
  EXPECT_EQ(convert<float>(true), 1.f);
  EXPECT_EQ(float(convert<bfloat16_t>(int32_t(257))), 256.f) << "rounds to even";
  EXPECT_EQ(float(convert<bfloat16_t>(int32_t(259))), 260.f) << "rounds, does not truncate";
  EXPECT_EQ(float(convert<half_t>(int64_t(2049))), 2048.f);
  EXPECT_EQ(float(convert<half_t>(int64_t(70000))), HUGE_VALF);
}

/// ops::cast between all pairs equals convert() element by element.
template <class From, class To>
void check_cast() {
  using Threads = Mesh<Layout<Shape<Int<128>>, Stride<cute::_1>>, TopologyScope::thread>;
  using SL = ShardLayout<Layout<Shape<Int<128>, cute::_4>, Stride<cute::_0, cute::_1>>,
                         cute::tuple<shard::S<0>>, Threads>;
  launch(1, 0, [] {
    auto x = register_tensor<From>(RowMajor<128, 4>{}, SL{});
    auto y = register_tensor<To>(RowMajor<128, 4>{}, SL{});
    for (int i = 0; i < 4; ++i)
      x.data()[i] = convert<From>(100.f * noise(4 * program_id<TopologyScope::thread>() + i));
    ops::cast(x, y);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(convert<double>(y.data()[i]), convert<double>(convert<To>(x.data()[i])));
    }
  });
}

template <class From, class... To>
void check_casts_from() {
  (check_cast<From, To>(), ...);
}

template <class... T>
void check_all_casts() {
  (check_casts_from<T, T...>(), ...);
}

TEST(Cast, AllPairs) {
  check_all_casts<float, double, half_t, bfloat16_t, int8_t, int16_t, int32_t, int64_t, uint8_t, bool,
                  float_e4m3_t, float_e5m2_t, float_ue8m0_t>();
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
