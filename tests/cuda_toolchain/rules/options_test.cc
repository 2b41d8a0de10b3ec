#include "tests/cuda_toolchain/rules/options.h"

#include <gtest/gtest.h>
#include <options/level.h>

namespace cuda_toolchain {
namespace {

TEST(OptionsTest, ReachTheSourcesOfTheTarget) {
  Options seen = options();
  EXPECT_EQ(seen.level, 11);
  EXPECT_EQ(seen.shared, 5);
  EXPECT_STREQ(seen.text, "a, b \\");
  EXPECT_EQ(seen.local, 7);
  EXPECT_EQ(seen.from_copts, 3);
}

TEST(OptionsTest, HostOptionsReachTheHostCompiler) {
  EXPECT_STREQ(options().from_host_copts, "x, $HOME 'y' \\");
  EXPECT_TRUE(options().host_char_is_unsigned);
}

TEST(OptionsTest, DateIsNotTheBuildsDate) { EXPECT_STREQ(options().date, "redacted"); }

TEST(OptionsTest, DefinesAndIncludesReachDependents) {
  EXPECT_EQ(SHARED, 5);
  EXPECT_STREQ(TEXT, "a, b \\");
  EXPECT_EQ(kLevel, 11);
#if defined(LOCAL) || defined(FROM_COPTS)
  ADD_FAILURE() << "a macro of the library's own sources reached a dependent";
#endif
}

}  // namespace
}  // namespace cuda_toolchain
