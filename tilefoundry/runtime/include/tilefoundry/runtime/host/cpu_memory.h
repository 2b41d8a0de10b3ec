// Memory of a call on the host, where no framework gives any.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "tilefoundry/runtime/host/error.h"

namespace tilefoundry::host {

/// One allocation, freed at the end of its life: kernels have run when a call returns.
class TargetMemory {
 public:
  TargetMemory() = default;
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;
  ~TargetMemory() {
    if (data_ != nullptr) ::operator delete(data_, kAlignment);
  }

  /// Throws kLaunchError that names `entry`.
  char* allocate(const char* entry, int64_t bytes, DLDevice /*device*/) {
    data_ = static_cast<char*>(::operator new(static_cast<size_t>(bytes), kAlignment, std::nothrow));
    if (data_ == nullptr)
      throw_error(kLaunchError, "'", entry, "' needs a workspace of ", bytes, " bytes: no memory");
    return data_;
  }

  static void zero(const char* /*entry*/, void* data, int64_t bytes, DLDevice /*device*/) {
    std::memset(data, 0, static_cast<size_t>(bytes));
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  char* data_ = nullptr;
};

}  // namespace tilefoundry::host
