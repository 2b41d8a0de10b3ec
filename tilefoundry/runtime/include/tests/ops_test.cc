// The golden parts of the ops' tests on the CPU runtime: each value that an instance records is the one that
// plain arithmetic gives. ops_device_test.cc runs the same parts on a GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ops_parts.h"

#define DECLARE(name, ...) extern "C" void ops_##name##_on_cpu(void const* args, bool vector);
OPS_PARTS(DECLARE)
#undef DECLARE

namespace {

template <int Rank>
struct Argument {
  void* data;
  int64_t shape[Rank];
  int64_t stride[Rank];
};
struct Args {
  Argument<2> in, out;
  Argument<1> log, scratch;
  int64_t repetitions;
};

void expect_golden(void (*run)(void const*, bool)) {
  constexpr float blank = -7.f;
  std::vector<float> log(3 << 19, blank), scratch(16384, 0.f);
  Args const args{{}, {}, {log.data(), {3 << 19}, {1}}, {scratch.data(), {16384}, {1}}, 60};
  run(&args, false);
  size_t recorded = 0;
  for (size_t i = 0; i < log.size(); i += 2) {
    ASSERT_EQ(log[i], log[i + 1]) << "entry " << i / 2;
    recorded += log[i] != blank;
  }
  EXPECT_GT(recorded, 0u);
}

#define GOLDEN_true(name) \
  TEST(Golden, name) { expect_golden(ops_##name##_on_cpu); }
#define GOLDEN_false(name)
#define GOLDEN(name, header, threads, variants, golden) GOLDEN_##golden(name)
OPS_PARTS(GOLDEN)

}  // namespace
