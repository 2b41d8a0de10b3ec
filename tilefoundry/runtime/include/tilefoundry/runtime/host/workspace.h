// Memory that one call needs for itself: intermediate tensors between kernels, and counters of grid barriers.
//
//   host::Workspace<2> workspace;
//   workspace.tensor("partial", {rows, int64_t{32}}, sizeof(float), bound[3]);
//   workspace.release(bound[3]);         // what is asked for from here on may lie in its place
//   workspace.tensor("scaled", {rows, int64_t{32}}, sizeof(float), bound[4]);
//   workspace.allocate(entry, device);   // both are tensors like any other until `workspace` ends
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
///
/// Tensors are asked for and released in the order in which the launches of the call use them. Launches run
/// one after the other, so a tensor may lie where one lay that no later launch uses.
///
/// `Count`: how many tensors, views and counters there are at most.
template <int Count>
class Workspace {
 public:
  static constexpr int64_t kAlignment = 256;  ///< of every tensor: what CUDA's own allocations have

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

  /// The memory of a dense tensor, of this workspace or of the caller, under other extents of as many
  /// elements.
  void view(const Bound& tensor, std::initializer_list<int64_t> shape, Bound& bound) {
    describe(shape, bound);
    bound.data = tensor.data;
    if (const Room* room = find(tensor)) tensors_[count_++] = {&bound, {room->begin, room->begin}};
  }

  /// Says that no launch uses a tensor together with what is asked for from here on.
  void release(const Bound& tensor) {
    Room freed = *find(tensor);
    for (int k = 0; k < hole_count_;) {
      if (holes_[k].end != freed.begin && freed.end != holes_[k].begin) {
        ++k;
        continue;
      }
      freed = {std::min(freed.begin, holes_[k].begin), std::max(freed.end, holes_[k].end)};
      holes_[k] = holes_[--hole_count_];
      k = 0;  // it may touch one that was passed
    }
    if (freed.bytes() > 0) holes_[hole_count_++] = freed;
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
    if (end_ == 0) return;
    int64_t const room = end_ + kAlignment;  // a framework may align less
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
    for (int i = 0; i < count_; ++i) tensors_[i].bound->data = memory + tensors_[i].room.begin;
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

  struct Room {
    int64_t begin;
    int64_t end;

    int64_t bytes() const { return end - begin; }
  };

  struct Placed {
    Bound* bound;
    Room room;
  };

  /// Where a tensor lies; null where it is not of this workspace. As a rule it is one of the last.
  const Room* find(const Bound& tensor) const {
    int k = count_ - 1;
    while (k >= 0 && tensors_[k].bound != &tensor) --k;
    return k < 0 ? nullptr : &tensors_[k].room;
  }

  void place(int64_t bytes, Bound& bound) {
    constexpr int64_t kMost = INT64_MAX - 2 * kAlignment;
    if (bytes > kMost) throw_error(kArgumentValueError, "the workspace is too large");
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    Room* hole = smallest_hole(bytes);
    if (hole == nullptr) {
      hole = std::find_if(holes_, holes_ + hole_count_, [&](const Room& room) { return room.end == end_; });
      if (hole == holes_ + hole_count_) holes_[hole_count_++] = {end_, end_};
      if (bytes > kMost - hole->begin) throw_error(kArgumentValueError, "the workspace is too large");
      hole->end = end_ = hole->begin + bytes;
    }
    tensors_[count_++] = {&bound, {hole->begin, hole->begin + bytes}};
    hole->begin += bytes;
    if (hole->bytes() == 0) *hole = holes_[--hole_count_];
  }

  /// The one that fits closest; null where none fits.
  Room* smallest_hole(int64_t bytes) {
    Room* found = nullptr;
    for (Room* hole = holes_; hole != holes_ + hole_count_; ++hole) {
      if (hole->bytes() >= bytes && (found == nullptr || hole->bytes() < found->bytes())) found = hole;
    }
    return found;
  }

  int64_t end_ = 0;
  int64_t bytes_with_alignment_ = 0;
  int64_t counter_bytes_ = 0;
  int count_ = 0;
  Placed tensors_[Count];
  Room holes_[Count + 1];  // apart from each other
  int hole_count_ = 0;
  TVMFFIObjectHandle from_framework_ = nullptr;
  TargetMemory own_;
};

/// The counters of the n-th barrier launch of a call.
inline void* counter_pair(const Bound& counters, int64_t n) {
  return counters.data + 2 * n * static_cast<int64_t>(sizeof(uint32_t));
}

}  // namespace tilefoundry::host
