// The device of a call: its primary context, made current for the time of a launch, and the caller's stream
// on it.
#pragma once

#include <dlpack/dlpack.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <atomic>

#include "tilefoundry/runtime/host/cuda/driver.h"

namespace tilefoundry::host {

inline constexpr int kMaxCudaDevices = 64;

/// The context that frameworks use on a device. It is retained once and kept: frameworks keep theirs as well.
inline CUcontext primary_context(int device) {
  static std::atomic<CUcontext> contexts[kMaxCudaDevices] = {};
  if (device < 0 || device >= kMaxCudaDevices) throw_error(kLaunchError, "no CUDA device of index ", device);
  if (CUcontext known = contexts[device].load(std::memory_order_acquire)) return known;
  const CudaDriver& driver = CudaDriver::get();
  CUdevice handle = 0;
  CUcontext context = nullptr;
  driver.check(driver.device_get(&handle, device), "cuda:", device);
  driver.check(driver.retain_primary_context(&context, handle), "primary context of cuda:", device);
  contexts[device].store(context, std::memory_order_release);
  return context;
}

/// Makes a device's primary context current, and what was current before current again.
class CudaDeviceGuard {
 public:
  explicit CudaDeviceGuard(int device) {
    const CudaDriver& driver = CudaDriver::get();
    const CUcontext wanted = primary_context(device);
    CUcontext current = nullptr;
    driver.check(driver.current_context(&current), "current context");
    if (current == wanted) return;
    driver.check(driver.push_context(wanted), "context of cuda:", device);
    pushed_ = true;
  }
  ~CudaDeviceGuard() {
    CUcontext popped = nullptr;
    if (pushed_) CudaDriver::get().pop_context(&popped);
  }
  CudaDeviceGuard(const CudaDeviceGuard&) = delete;
  CudaDeviceGuard& operator=(const CudaDeviceGuard&) = delete;

 private:
  bool pushed_ = false;
};

/// Lets this thread load modules while one of its streams is being captured into a graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { CudaDriver::get().exchange_capture_mode(&mode_); }
  ~RelaxedCapture() { CudaDriver::get().exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// The stream that the caller's framework has current on a device.
inline CUstream current_stream(int device) {
  return static_cast<CUstream>(TVMFFIEnvGetStream(kDLCUDA, device));
}

/// Copies device memory to the host and waits for it, behind the work of the current stream.
inline void fetch_from_cuda(void* dst, const void* src, int64_t bytes, DLDevice device) {
  const CudaDriver& driver = CudaDriver::get();
  const CudaDeviceGuard guard(device.device_id);
  const CUstream stream = current_stream(device.device_id);
  driver.check(
      driver.copy_to_host(dst, reinterpret_cast<CUdeviceptr>(src), static_cast<size_t>(bytes), stream),
      "reading a 0-d tensor from cuda:", device.device_id);
  driver.check(driver.synchronize(stream), "reading a 0-d tensor from cuda:", device.device_id);
}

}  // namespace tilefoundry::host
