// Memory that one call needs for itself: intermediate tensors between kernels, and counters of grid barriers.
//
//   host::Workspace workspace;
//   workspace.tensor("partial", {rows, int64_t{32}}, sizeof(float), bound[3]);
//   workspace.allocate(entry, device);   // bound[3] is a tensor like any other until `workspace` ends
#pragma once

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "tilefoundry/runtime/host/bound.h"
#include "tilefoundry/runtime/host/error.h"
#include "tilefoundry/runtime/host/spec.h"
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include "tilefoundry/runtime/host/cuda/memory.h"
#else
#include "tilefoundry/runtime/host/cpu_memory.h"
#endif

namespace tilefoundry::host {

/// One piece of memory for all tensors of a call, so that a call allocates once. It comes from the allocator
/// of the caller's framework where the call has one, else from the target: `TargetMemory`, in the order of
/// the call's stream. It is freed on every path, for work that was launched before.
class Workspace {
 public:
  static constexpr int64_t kAlignment = 256;  ///< of every tensor: what CUDA's own allocations have
  static constexpr int kMaxTensors = 64;      ///< the emitter refuses more

  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (from_framework_ != nullptr) TVMFFIObjectDecRef(from_framework_);
  }

  /// Room for a dense tensor, which `bound` describes once `allocate` has given it an address.
  void tensor(const char* name, std::initializer_list<int64_t> shape, int64_t item_bytes, Bound& bound) {
    int64_t bytes = item_bytes;
    for (int64_t const extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
        throw_error(kArgumentValueError, "workspace tensor '", name, "' has shape ",
                    tuple_text(shape.begin(), static_cast<int>(shape.size())), ", which no memory holds");
      }
    }
    describe(shape, bound);
    place(bytes, bound);
  }

  /// The memory of a tensor of this workspace under other extents, of as many elements.
  void view(const Bound& tensor, std::initializer_list<int64_t> shape, Bound& bound) {
    describe(shape, bound);
    const auto* const placed =
        std::find_if(tensors_, tensors_ + count_, [&](const Placed& p) { return p.bound == &tensor; });
    tensors_[count_++] = {&bound, placed->offset};
  }

  /// Room for `count` pairs of counters, which are zero when the first kernel starts. Comes before all
  /// tensors.
  void counters(int64_t count, Bound& bound) {
    counter_bytes_ = 2 * count * static_cast<int64_t>(sizeof(uint32_t));
    bound = Bound{};
    place(counter_bytes_, bound);
  }

  /// Takes the memory; the caller holds the device's guard. Throws kLaunchError, or what the framework
  /// throws.
  void allocate(const Entry& entry, DLDevice device) {
    if (bytes_ == 0) return;
    int64_t const room = bytes_ + kAlignment;  // a framework may align less
    char* memory = nullptr;
    if (TVMFFIEnvGetDLPackManagedTensorAllocator() != nullptr) {
      DLTensor wanted = {nullptr, device, 1, {kDLUInt, 8, 1}, &bytes_with_alignment_, nullptr, 0};
      bytes_with_alignment_ = room;
      TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvTensorAlloc(&wanted, &from_framework_));
      const DLTensor* given = TVMFFITensorGetDLTensorPtr(from_framework_);
      memory = static_cast<char*>(given->data) + given->byte_offset;
    } else {
      memory = own_.allocate(entry.name, room, device);
    }
    const auto address = reinterpret_cast<uintptr_t>(memory);
    memory += (kAlignment - address % kAlignment) % kAlignment;
    if (counter_bytes_ != 0) TargetMemory::zero(entry.name, memory, counter_bytes_, device);
    for (int i = 0; i < count_; ++i) tensors_[i].bound->data = memory + tensors_[i].offset;
  }

 private:
  static void describe(std::initializer_list<int64_t> shape, Bound& bound) {
    bound = Bound{};
    bound.rank = static_cast<int>(shape.size());
    bound.elements = 1;
    std::copy(shape.begin(), shape.end(), bound.shape);
    for (int k = bound.rank - 1; k >= 0; --k) {
      bound.strides[k] = bound.elements;
      bound.elements *= bound.shape[k];
    }
  }

  struct Placed {
    Bound* bound;
    int64_t offset;
  };

  void place(int64_t bytes, Bound& bound) {
    tensors_[count_++] = {&bound, bytes_};
    const bool beyond =
        __builtin_add_overflow(bytes_, (bytes + kAlignment - 1) / kAlignment * kAlignment, &bytes_);
    if (beyond || bytes_ > INT64_MAX - kAlignment)
      throw_error(kArgumentValueError, "the workspace is too large");
  }

  int64_t bytes_ = 0;
  int64_t bytes_with_alignment_ = 0;
  int64_t counter_bytes_ = 0;
  int count_ = 0;
  Placed tensors_[kMaxTensors];
  TVMFFIObjectHandle from_framework_ = nullptr;
  TargetMemory own_;
};

/// The counters of the n-th barrier launch of a call.
inline void* counter_pair(const Bound& counters, int64_t n) {
  return counters.data + 2 * n * static_cast<int64_t>(sizeof(uint32_t));
}

}  // namespace tilefoundry::host
