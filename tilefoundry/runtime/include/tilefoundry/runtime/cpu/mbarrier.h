// A barrier in shared memory, as stages of a pipeline have.
#pragma once

#include <tilefoundry/runtime/core/config.h>

#include <cstdint>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

/// A barrier in shared memory that instances arrive at without waiting; its phases alternate in parity.
struct Mbarrier {
  int16_t expected;
  int16_t missing;
  uint32_t phase = 0;

  explicit Mbarrier(int arrivals)
      : expected(static_cast<int16_t>(arrivals)), missing(static_cast<int16_t>(arrivals)) {}

  /// Whether the phase ended with this arrival.
  bool arrive() {
    if (--missing > 0) return false;
    missing = expected;
    ++phase;
    return true;
  }
  bool ended(unsigned parity) const { return (phase & 1u) != parity; }
};
static_assert(sizeof(Mbarrier) == 8, "as large as the barrier of a GPU");

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
