// Memory of a call on a GPU, where no framework gives any: from the driver, in the order of the call's
// stream.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

#include "tilefoundry/runtime/host/cuda/context.h"
#include "tilefoundry/runtime/host/cuda/driver.h"

namespace tilefoundry::host {

/// One allocation on the caller's current stream, freed there at the end of its life, behind the kernels that
/// were launched meanwhile. The caller holds a CudaDeviceGuard for longer.
class TargetMemory {
 public:
  TargetMemory() = default;
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;
  ~TargetMemory() {
    if (data_ != 0) CudaDriver::get().free(data_, stream_);
  }

  /// Throws kLaunchError that names `entry`.
  char* allocate(const char* entry, int64_t bytes, DLDevice device) {
    const CudaDriver& driver = CudaDriver::get();
    stream_ = current_stream(device.device_id);
    driver.check(driver.allocate(&data_, static_cast<size_t>(bytes), stream_), "'", entry,
                 "' needs a workspace of ", bytes, " bytes on cuda:", device.device_id);
    return reinterpret_cast<char*>(data_);
  }

  static void zero(const char* entry, void* data, int64_t bytes, DLDevice device) {
    const CudaDriver& driver = CudaDriver::get();
    driver.check(driver.set_bytes(reinterpret_cast<CUdeviceptr>(data), 0, static_cast<size_t>(bytes),
                                  current_stream(device.device_id)),
                 "'", entry, "': clearing the counters of its barriers");
  }

 private:
  CUdeviceptr data_ = 0;
  CUstream stream_ = nullptr;
};

}  // namespace tilefoundry::host
