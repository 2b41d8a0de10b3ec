// The kernel of flash_attention.h on the CPU runtime, beside attention in f64: odd extents, grids smaller and
// larger than the work, outputs that start as NaN.
#include "flash_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace flash {
namespace {

using Elements = std::vector<T>;

Elements noise(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Elements x(static_cast<size_t>(count));
  for (T& element : x) element = convert<T>(normal(generator));
  return x;
}

/// softmax(scale q k^T) v for a row of q and the first n keys.
std::vector<double> attend(T const* q, T const* k, T const* v, int n, double scale) {
  std::vector<double> weights(static_cast<size_t>(n)), out(kD);
  double highest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int j = 0; j < n; ++j) {
    double score = 0;
    for (int c = 0; c < kD; ++c) score += convert<double>(q[c]) * convert<double>(k[j * kD + c]);
    weights[static_cast<size_t>(j)] = scale * score;
    highest = std::max(highest, scale * score);
  }
  for (double& weight : weights) sum += weight = std::exp(weight - highest);
  for (int j = 0; j < n; ++j) {
    for (int c = 0; c < kD; ++c) {
      out[static_cast<size_t>(c)] += weights[static_cast<size_t>(j)] / sum * convert<double>(v[j * kD + c]);
    }
  }
  return out;
}

/// @return the relative L2 error
template <bool Causal>
double error(int heads, int rows, int keys, int grid) {
  Elements q = noise(heads * rows * kD, 1), k = noise(heads * keys * kD, 2), v = noise(heads * keys * kD, 3);
  Elements out(q.size(), convert<T>(std::numeric_limits<float>::quiet_NaN()));
  auto const argument = [&](Elements& x, int n) {
    return GlobalArg<3>{x.data(), {heads, n, kD}, {int64_t{n} * kD, kD, 1}};
  };
  double const scale = 1 / std::sqrt(double{kD});
  Args const args{argument(q, rows),
                  argument(k, keys),
                  argument(v, keys),
                  argument(out, rows),
                  {},
                  {},
                  {},
                  static_cast<float>(scale * 1.4426950408889634)};
  cpu::launch<true>(grid, kThreads, kSharedBytes, [&] { body<Causal>(args); });
  double difference = 0, norm = 0;
  for (int i = 0; i < heads * rows; ++i) {
    int const first = i / rows * keys * kD, n = Causal ? std::min(keys, i % rows + 1) : keys;
    auto const wanted = attend(&q[static_cast<size_t>(i * kD)], &k[static_cast<size_t>(first)],
                               &v[static_cast<size_t>(first)], n, scale);
    for (int c = 0; c < kD; ++c) {
      double const want = wanted[static_cast<size_t>(c)];
      double const off = convert<double>(out[static_cast<size_t>(i * kD + c)]) - want;
      difference += off * off;
      norm += want * want;
    }
  }
  return std::sqrt(difference / norm);
}

// Weights and results are rounded to 8 bits: 2^-9 each at most, and less in the mean.
constexpr double kBound = 3e-3;

TEST(FlashAttention, OddExtents) {
  EXPECT_LT(error<false>(1, 1, 1, 2), kBound);
  EXPECT_LT(error<false>(2, 300, 200, 4), kBound);
}

TEST(FlashAttention, CausalMask) {
  EXPECT_LT(error<true>(2, 300, 300, 2), kBound);
  EXPECT_LT(error<true>(3, 65, 177, 2), kBound);
}

}  // namespace
}  // namespace flash
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
