// The CUDA driver API, found at run time: a library with CUDA kernels loads and checks arguments on a machine
// that has no driver, and says what is missing when it is asked to launch.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include "tilefoundry/runtime/host/error.h"

namespace tilefoundry::host {

// Two steps, so that cuda.h's own renaming to the versioned symbol (cuCtxPushCurrent_v2) applies to the
// string too.
#define TILEFOUNDRY_STRING_OF(x) #x
#define TILEFOUNDRY_STRING(x) TILEFOUNDRY_STRING_OF(x)
#define TILEFOUNDRY_DRIVER_FUNCTIONS(X)                       \
  X(init, cuInit)                                             \
  X(error_name, cuGetErrorName)                               \
  X(error_string, cuGetErrorString)                           \
  X(device_get, cuDeviceGet)                                  \
  X(device_attribute, cuDeviceGetAttribute)                   \
  X(retain_primary_context, cuDevicePrimaryCtxRetain)         \
  X(current_context, cuCtxGetCurrent)                         \
  X(push_context, cuCtxPushCurrent)                           \
  X(pop_context, cuCtxPopCurrent)                             \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode) \
  X(load_module, cuModuleLoadData)                            \
  X(get_function, cuModuleGetFunction)                        \
  X(set_function_attribute, cuFuncSetAttribute)               \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)   \
  X(copy_to_host, cuMemcpyDtoHAsync)                          \
  X(synchronize, cuStreamSynchronize)                         \
  X(allocate, cuMemAllocAsync)                                \
  X(free, cuMemFreeAsync)                                     \
  X(set_bytes, cuMemsetD8Async)                               \
  X(launch_kernel, cuLaunchKernel)                            \
  X(launch_cooperative, cuLaunchCooperativeKernel)

/// The driver's functions, resolved once per library.
class CudaDriver {
 public:
#define TILEFOUNDRY_DECLARE(member, symbol) decltype(&::symbol) member;
  TILEFOUNDRY_DRIVER_FUNCTIONS(TILEFOUNDRY_DECLARE)
#undef TILEFOUNDRY_DECLARE

  /// Throws kLaunchError when the machine has no usable driver; the next call tries again.
  static const CudaDriver& get() {
    static const CudaDriver driver;
    return driver;
  }

  /// "CUDA_ERROR_INVALID_VALUE: invalid argument".
  std::string error_text(CUresult result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    error_name(result, &name);
    error_string(result, &text);
    return std::string(name != nullptr ? name : "unknown CUDA error") + ": " +
           (text != nullptr ? text : "no text");
  }

  /// Throws kLaunchError "<doing>: <the driver's error>" unless `result` is a success.
  template <class... Parts>
  void check(CUresult result, const Parts&... doing) const {
    if (result != CUDA_SUCCESS) throw_error(kLaunchError, doing..., ": ", error_text(result));
  }

 private:
  CudaDriver() {
    void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      throw_error(kLaunchError, "cannot open the NVIDIA driver's library libcuda.so.1 (", dlerror(),
                  "); install the driver, or put the folder that holds it into LD_LIBRARY_PATH");
    }
#define TILEFOUNDRY_RESOLVE(member, symbol)                                                 \
  member = reinterpret_cast<decltype(member)>(dlsym(handle, TILEFOUNDRY_STRING(symbol)));   \
  if (member == nullptr) {                                                                  \
    throw_error(kLaunchError, "the NVIDIA driver's libcuda.so.1 lacks " TILEFOUNDRY_STRING( \
                                  symbol) "; it is older than CUDA 12, update it");         \
  }
    TILEFOUNDRY_DRIVER_FUNCTIONS(TILEFOUNDRY_RESOLVE)
#undef TILEFOUNDRY_RESOLVE
    check(init(0), "cuInit");
  }
};

#undef TILEFOUNDRY_DRIVER_FUNCTIONS
#undef TILEFOUNDRY_STRING
#undef TILEFOUNDRY_STRING_OF

}  // namespace tilefoundry::host
