// What a launch is, whatever the target.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilefoundry::host {

/// Grid extent that leaves the number of CTAs to the host: what the device holds at once, at most one per
/// tile.
inline constexpr int64_t kChooseGrid = -1;

/// One launch of one kernel. `args` points to the kernel's argument record.
struct Launch {
  int64_t grid;
  int64_t tiles;
  bool vector;
  void* args;
};

/// CTAs to launch where the device holds `resident` at once.
inline int64_t grid_of(const Launch& launch, int64_t resident) {
  if (launch.grid != kChooseGrid) return launch.grid;
  return std::min(launch.tiles, std::max<int64_t>(resident, 1));
}

}  // namespace tilefoundry::host
