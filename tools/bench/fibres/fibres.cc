// What it costs to go from one fibre to another: the register switch alone, and at a barrier of a CTA.
// Fails when the register switch takes more than its bound.
#include <tilefoundry/runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <>
constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}

namespace {

constexpr double kBoundNs = 50;
constexpr int kRepeats = 31;

/// Median time of one of the `switches` that `body` makes, in ns.
template <class Body>
double median_ns(int64_t switches, Body const& body) {
  std::vector<double> ns(kRepeats);
  body();
  for (double& one : ns) {
    auto const start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double, std::nano> const spent = std::chrono::steady_clock::now() - start;
    one = spent.count() / static_cast<double>(switches);
  }
  std::nth_element(ns.begin(), ns.begin() + kRepeats / 2, ns.end());
  return ns[kRepeats / 2];
}

void* outside = nullptr;
void* inside = nullptr;

double register_switch() {
  constexpr int kRounds = 100000;
  fibre::Stacks stacks;
  stacks.reserve(1);
  inside = fibre::prepare_stack(stacks.top(0), [] {
    for (;;) fibre::switch_stack(&inside, outside);
  });
  return median_ns(2 * kRounds, [] {
    for (int i = 0; i < kRounds; ++i) fibre::switch_stack(&outside, inside);
  });
}

double barrier() {
  constexpr int kThreads = 128, kRounds = 1000;
  return median_ns(kThreads * kRounds, [] {
    cpu::launch<true>(1, kThreads, 0, [] {
      for (int i = 0; i < kRounds; ++i) ops::sync<SyncKind::cta>();
    });
  });
}

int main() {
  double const bare = register_switch();
  std::printf("register switch: %.1f ns (bound: %.0f ns)\n", bare, kBoundNs);
  std::printf("barrier of 128 threads: %.1f ns a thread\n", barrier());
  return bare <= kBoundNs ? 0 : 1;
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry

int main() { return tilefoundry::main(); }
