// DLPack devices: what an entry accepts, and how messages call it.
#pragma once

#include <dlpack/dlpack.h>

#include <string>

namespace tilefoundry::host {

inline std::string device_kind_name(DLDeviceType type) {
  switch (type) {
    case kDLCPU:
      return "kDLCPU";
    case kDLCUDA:
      return "kDLCUDA";
    case kDLCUDAHost:
      return "kDLCUDAHost";
    case kDLCUDAManaged:
      return "kDLCUDAManaged";
    default:
      return "DLPack device type " + std::to_string(static_cast<int>(type));
  }
}

/// "cuda:1", "cpu", ...
inline std::string device_name(DLDevice device) {
  if (device.device_type == kDLCPU) return "cpu";
  if (device.device_type == kDLCUDA) return "cuda:" + std::to_string(device.device_id);
  return device_kind_name(device.device_type) + ":" + std::to_string(device.device_id);
}

/// Whether an entry for `wanted` can read memory of `given`: managed memory is device memory, pinned memory
/// is host memory.
inline constexpr bool accepts_device(DLDeviceType wanted, DLDeviceType given) {
  if (wanted == kDLCUDA) return given == kDLCUDA || given == kDLCUDAManaged;
  return given == wanted || (wanted == kDLCPU && given == kDLCUDAHost);
}

}  // namespace tilefoundry::host
