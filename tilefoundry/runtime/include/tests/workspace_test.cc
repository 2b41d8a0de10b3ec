// The memory of a call: tensors that are used together lie apart, and what is released is used again.
#include "tilefoundry/runtime/host/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using tilefoundry::host::Bound;
using tilefoundry::host::Workspace;

constexpr DLDevice kCpu = {kDLCPU, 0};

tilefoundry::host::Entry entry() {
  tilefoundry::host::Entry made{};
  made.name = "planned";
  return made;
}

struct Tensor {
  int64_t bytes;
  int begin;
  int end;  // the step after which it is released
};

// From the first byte of a tensor to the last; checks that tensors which are there at one step lie apart.
template <int Count>
int64_t extent(std::vector<Tensor> const& tensors, int steps) {
  std::vector<Bound> bound(tensors.size());
  Workspace<Count> workspace;
  for (int step = 0; step < steps; ++step) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k].begin == step) workspace.tensor("t", {tensors[k].bytes}, 1, bound[k]);
    }
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k].end == step) workspace.release(bound[k]);
    }
  }
  workspace.allocate(entry(), kCpu);
  char* low = bound[0].data;
  char* high = low;
  for (size_t k = 0; k < tensors.size(); ++k) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bound[k].data) % 256, 0u) << k;
    low = std::min(low, bound[k].data);
    high = std::max(high, bound[k].data + tensors[k].bytes);
    for (size_t other = 0; other < k; ++other) {
      if (tensors[k].bytes == 0 || tensors[other].bytes == 0) continue;
      bool const together = tensors[k].begin <= tensors[other].end && tensors[other].begin <= tensors[k].end;
      bool const apart = bound[k].data + tensors[k].bytes <= bound[other].data ||
                         bound[other].data + tensors[other].bytes <= bound[k].data;
      EXPECT_TRUE(!together || apart) << k << " and " << other;
    }
  }
  return high - low;
}

TEST(Workspace, AChainTakesTheRoomOfTwo) {
  std::vector<Tensor> chain;
  for (int k = 0; k < 50; ++k) chain.push_back({1 << 20, k, k + 1});
  EXPECT_EQ(extent<50>(chain, 51), 2 << 20);
}

TEST(Workspace, NeighboursThatAreReleasedAreOneRoom) {
  // three of a MiB, released in the order middle, last, first; then one of three
  std::vector<Tensor> const tensors = {{1 << 20, 0, 3}, {1 << 20, 0, 1}, {1 << 20, 0, 2}, {3 << 20, 4, 4}};
  EXPECT_EQ(extent<4>(tensors, 5), 3 << 20);
}

TEST(Workspace, TheLastRoomGrows) { EXPECT_EQ(extent<2>({{1 << 20, 0, 0}, {4 << 20, 1, 1}}, 2), 4 << 20); }

TEST(Workspace, WhatIsThereTogetherLiesApart) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<Tensor> tensors;
    int64_t all = 0;
    for (int k = 0; k < 40; ++k) {
      int const begin = static_cast<int>(random() % 20);
      int64_t const bytes = random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % 5000);
      tensors.push_back({bytes, begin, begin + static_cast<int>(random() % 6)});
      all += (bytes + 255) / 256 * 256;
    }
    EXPECT_LE(extent<40>(tensors, 26), all);
  }
}

TEST(Workspace, AViewIsItsTensorUnderOtherExtents) {
  Bound tensor, view, again, of_the_caller, given{};
  char memory[64];
  given.data = memory;
  Workspace<4> workspace;
  workspace.tensor("t", {4, 6}, 4, tensor);
  workspace.view(tensor, {2, 3, 4}, view);
  workspace.view(view, {24}, again);
  workspace.view(given, {8, 2}, of_the_caller);
  workspace.allocate(entry(), kCpu);
  EXPECT_EQ(view.data, tensor.data);
  EXPECT_EQ(again.data, tensor.data);
  EXPECT_EQ(of_the_caller.data, memory);
  EXPECT_EQ(view.rank, 3);
  EXPECT_EQ(view.strides[0], 12);
  EXPECT_EQ(view.elements, 24);
}

}  // namespace
