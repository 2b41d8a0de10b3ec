// The attention kernels on the CPU runtime: extents, strides and grids, against f64.
#include <gtest/gtest.h>

#include "attention_check.h"
#include "attention_kernels.h"

using attention_check::Argument;
using attention_check::Problem;
using attention_check::Type;

#define DECLARE(name, type, d, causal)                            \
  extern "C" void name##__vector(void const* args, int64_t grid); \
  extern "C" void name##__general(void const* args, int64_t grid);
ATTENTION_KERNELS(DECLARE)
#undef DECLARE

namespace {

using Kernel = void (*)(void const* args, int64_t grid);

void check(Kernel kernel, Type type, int64_t d, bool causal, bool vector, int64_t rows, int64_t grid) {
  Problem problem(type, 2, rows, d, causal, vector);
  Argument const args[] = {problem.q.argument(problem.q.base()), problem.k.argument(problem.k.base()),
                           problem.v.argument(problem.v.base()), problem.out.argument(problem.out.base())};
  kernel(args, grid);
  EXPECT_EQ(problem.verdict(), "") << rows << " rows, grid " << grid << (vector ? ", vector" : ", general");
}

void check_all(Kernel vector, Kernel general, Type type, int64_t d, bool causal) {
  for (int64_t rows : {1, 7, 64, 129, 333}) check(vector, type, d, causal, true, rows, 3);
  for (int64_t rows : {1, 129}) check(general, type, d, causal, false, rows, 3);
  for (int64_t grid : {1, 6, 100}) check(vector, type, d, causal, true, 129, grid);
}

#define TEST_KERNEL(name, type, d, causal) \
  TEST(Attention, name) { check_all(name##__vector, name##__general, Type::type, d, causal); }
ATTENTION_KERNELS(TEST_KERNEL)

}  // namespace
