// Launching kernels that were compiled for the CPU runtime.
#pragma once

#include <cstdint>
#include <exception>

#include "tilefoundry/runtime/cpu/workers.h"
#include "tilefoundry/runtime/host/error.h"
#include "tilefoundry/runtime/host/launch.h"
#if defined(TILEFOUNDRY_CHECKED)
#include "tilefoundry/runtime/host/cpu_checked.h"
#endif

namespace tilefoundry::host {

/// A kernel of the same library: its two variants take the argument record and the number of CTAs.
struct CpuKernel {
  using Function = void (*)(const void* args, int64_t grid);
  const char* name;
  Function vector;
  Function general;

  /// Runs to completion; `device` is always the host.
  /// What an instance throws (a division by zero) says where it ran; the kernel's name is added here.
  void launch(int /*device*/, const Launch& launch) const {
    try {
      (launch.vector ? vector : general)(launch.args, grid_of(launch, resident(launch)));
#if defined(TILEFOUNDRY_CHECKED)
    } catch (const checked::Finding& finding) {
      throw_error(kCheckingError, "kernel '", name, "': ", finding.what());
#endif
    } catch (const std::exception& error) {
      throw_error(kLaunchError, "kernel '", name, "': ", error.what());
    }
  }

 private:
  static int64_t resident(const Launch& launch) {
#if defined(TILEFOUNDRY_CHECKED)
    static_cast<void>(launch);
    return checked::kResidentCtas;
#else
    // One CTA needs no count of the workers, which takes a system call.
    return launch.tiles > 1 && launch.grid == kChooseGrid ? worker_count() : 1;
#endif
  }
};

}  // namespace tilefoundry::host
