// The kernel of copies_body.h on the CPU records what loops over elements say.
#include <gtest/gtest.h>

#include "copies_golden.h"

extern "C" void copies_on_cpu(void const* args);

namespace {

using namespace copies_golden;

void expect_golden(int part, size_t least) {
  Bytes in = input(), log(kCtas * kLogBytes);
  unsigned char* base = in.data();
  while (reinterpret_cast<uintptr_t>(base) % 16) ++base;
  Args const args{{base, {kInBytes}, {1}}, {log.data(), {kCtas * kLogBytes}, {1}}, part};
  copies_on_cpu(&args);
  for (int cta = 0; cta < kCtas; ++cta) {
    auto const expected = golden(base, cta, part);
    EXPECT_GE(expected.size(), least);
    EXPECT_EQ(faults(expected, &log[static_cast<size_t>(cta * kLogBytes)]), 0);
  }
}

TEST(Copies, Views) { expect_golden(0, 50); }
TEST(Copies, Tiles) { expect_golden(1, 8); }
TEST(Copies, First) { expect_golden(2, 18); }

}  // namespace
