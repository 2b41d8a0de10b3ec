// The kernel of copies_body.h on the CPU records what loops over elements say.
#include <gtest/gtest.h>

#include "copies_golden.h"

extern "C" void copies_on_cpu(void const* args);

namespace {

using namespace copies_golden;

TEST(Copies, RecordsWhatLoopsSay) {
  Bytes in = input(), log(kCtas * kLogBytes);
  unsigned char* base = in.data();
  while (reinterpret_cast<uintptr_t>(base) % 16) ++base;
  Args const args{{base, {kInBytes}, {1}}, {log.data(), {kCtas * kLogBytes}, {1}}};
  copies_on_cpu(&args);
  for (int cta = 0; cta < kCtas; ++cta) {
    auto const expected = golden(base, cta);
    EXPECT_GE(expected.size(), 80u);
    EXPECT_EQ(faults(expected, &log[static_cast<size_t>(cta * kLogBytes)]), 0);
  }
}

}  // namespace
