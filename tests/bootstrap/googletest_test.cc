// GoogleTest comes with its main(), whichever Bazel and registry the build has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(GoogleTest, MatchersAreThere) { EXPECT_THAT((std::vector<int>{1, 2}), testing::ElementsAre(1, 2)); }

}  // namespace
