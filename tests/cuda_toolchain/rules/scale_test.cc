#include "tests/cuda_toolchain/rules/scale.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_toolchain {
namespace {

TEST(ScaleTest, FilesOfOneNameAreAllInTheLibrary) {
  std::set<const void*> handles = {scale_one(), scale_two(), scale_three()};
  EXPECT_EQ(handles.size(), 3u);
  EXPECT_EQ(handles.count(nullptr), 0u);
}

}  // namespace
}  // namespace cuda_toolchain
