// Device copies of host buffers, for the device tests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the test when a CUDA call failed.
inline void require(int error, char const* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(static_cast<cudaError_t>(error)));
  std::exit(1);
}

/// A copy of `bytes` on the device, at the same distance from a 256-byte boundary as in `bytes` from a
/// 16-byte one.
class DeviceCopy {
 public:
  explicit DeviceCopy(std::vector<unsigned char>& host)
      : host_(host), shift_(reinterpret_cast<uintptr_t>(host.data()) % 16) {
    require(cudaMalloc(&data_, host.size() + 16), "cudaMalloc");
    require(cudaMemcpy(base(), host.data(), host.size(), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceCopy(DeviceCopy const&) = delete;
  DeviceCopy& operator=(DeviceCopy const&) = delete;
  ~DeviceCopy() { cudaFree(data_); }

  /// The device address of what lies at `p` in the host buffer.
  void* address(void const* p) const {
    return base() + (static_cast<unsigned char const*>(p) - host_.data());
  }
  void fetch() {
    require(cudaMemcpy(host_.data(), base(), host_.size(), cudaMemcpyDeviceToHost), "copy to the host");
  }

 private:
  unsigned char* base() const { return static_cast<unsigned char*>(data_) + shift_; }

  std::vector<unsigned char>& host_;
  size_t shift_;
  void* data_ = nullptr;
};
