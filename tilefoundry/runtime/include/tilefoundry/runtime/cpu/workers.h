// How many CTAs the CPU runtime runs at once. Free of CuTe and of units: host entries and kernels agree on
// it.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tilefoundry {
namespace host {

/// TILEFOUNDRY_NUM_THREADS when set, else the CPUs that this process may use.
/// @throws std::invalid_argument when the variable is not a positive number
inline int64_t worker_count() {
  if (const char* text = std::getenv("TILEFOUNDRY_NUM_THREADS"); text && *text) {
    char* end = nullptr;
    const int64_t given = std::strtoll(text, &end, 10);
    if (*end || given < 1 || given > 4096) {
      throw std::invalid_argument("TILEFOUNDRY_NUM_THREADS: expected a number from 1 to 4096, got '" +
                                  std::string(text) + "'");
    }
    return given;
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int usable = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return usable > 0 ? usable : 1;
}

}  // namespace host
}  // namespace tilefoundry
