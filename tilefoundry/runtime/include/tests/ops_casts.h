// Conversions between all pairs of element types.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

/// Four elements of each thread's own.
using Each = ShardLayout<Layout<Shape<Int<128>, _4>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;

/// Values around the rounding boundaries of every small format: neighbours of halves, subnormals, the ends of
/// the ranges and beyond, infinities, NaN.
TILEFOUNDRY_DEVICE float probe(int n) {
  if (n % 251 == 7) return __builtin_nanf("");
  if (n % 251 == 8) return n % 2 ? __builtin_huge_valf() : -__builtin_huge_valf();
  float const base = static_cast<float>(n % 257 - 128) * (n % 2 ? 0.03125f : 37.f);
  return n % 3 == 0 ? base * 0.0009765625f : base;
}

template <class To, class X>
TILEFOUNDRY_DEVICE void check_cast(X const& x, Recorder& record) {
  auto y = register_tensor<To>(Matrix<128, 4>{}, Each{});
  ops::cast(x, y);
  record(y);
}

template <class From, class... To>
TILEFOUNDRY_DEVICE void check_casts_from(Recorder& record) {
  auto x = register_tensor<From>(Matrix<128, 4>{}, Each{});
  TEST_ROLLED
  for (int round = 0; round < 2; ++round) {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      x.data()[i] = convert<From>(probe(static_cast<int>(program_id<kThread>()) * 8 + round * 4 + i));
    }
    (check_cast<To>(x, record), ...);
  }
}

template <class... T>
TILEFOUNDRY_DEVICE void check_all_casts(Recorder& record) {
  (check_casts_from<T, T...>(record), ...);
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const&, Recorder& record) {
  check_all_casts<float, double, half_t, bfloat16_t, int8_t, int16_t, int32_t, int64_t, uint8_t, bool,
                  float_e4m3_t, float_e5m2_t, float_ue8m0_t>(record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
