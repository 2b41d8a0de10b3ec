// A call in checking mode: the tensors that an entry was given, over all launches of its kernels. Free of
// units and of CuTe, since host entries describe the call.
#pragma once

#include <tilefoundry/runtime/cpu/checked_global.h>

#include <memory>

namespace tilefoundry {
namespace checked {

/// The number of CTAs of a launch that leaves it to the host: the same on every machine.
inline constexpr int64_t kResidentCtas = 4;

/// Lives while an entry runs. Kernels that this thread launches meanwhile find their arguments in it.
///
///   checked::Call call;
///   call.add("x", x, sizeof(float), 2, shape, strides, checked::GlobalTensor::Role::input);
///   call.begin();
///   ...  // launches
///   call.finish();
class Call {
 public:
  Call() : outer_(current()) { current() = this; }
  ~Call() { current() = outer_; }
  Call(Call const&) = delete;
  Call& operator=(Call const&) = delete;

  /// The call of the running thread; null outside of any.
  static Call*& current() {
    static thread_local Call* call = nullptr;
    return call;
  }

  /// Adds an argument. @param strides in elements
  void add(char const* name, void* data, int item, int rank, int64_t const* shape, int64_t const* strides,
           GlobalTensor::Role role) {
    tensors_.push_back(std::make_unique<GlobalTensor>(name, data, item, rank, shape, strides, role));
  }

  /// The arguments since the last call of this are all that one launch is given. Outputs and workspaces are
  /// filled with ones, NaN in every float format: what a kernel reads of them before it has written there
  /// cannot pass for a result.
  void begin() {
    size_t const first = blocks_.size();
    std::vector<GlobalTensor*> sorted;
    for (size_t i = begun_; i < tensors_.size(); ++i) sorted.push_back(tensors_[i].get());
    std::sort(sorted.begin(), sorted.end(),
              [](GlobalTensor const* a, GlobalTensor const* b) { return a->begin() < b->begin(); });
    for (GlobalTensor* tensor : sorted) {
      if (blocks_.size() == first || tensor->begin() >= blocks_.back()->end) {
        blocks_.push_back(std::make_unique<Block>());
        blocks_.back()->begin = blocks_.back()->end = tensor->begin();
        blocks_.back()->granule = tensor->item();
      }
      Block& block = *blocks_.back();
      block.end = std::max(block.end, tensor->end());
      while (tensor->item() % block.granule || (tensor->begin() - block.begin) % block.granule)
        block.granule /= 2;
      tensor->bind(&block, &epoch_);
    }
    for (size_t i = first; i < blocks_.size(); ++i) {
      size_t const granule = static_cast<size_t>(blocks_[i]->granule);
      blocks_[i]->granules.resize((static_cast<size_t>(blocks_[i]->end - blocks_[i]->begin) + granule - 1) /
                                  granule);
    }
    for (GlobalTensor* tensor : sorted) {
      if (tensor->has_values()) continue;
      tensor->for_each([&](char* at) { std::memset(at, 0xff, static_cast<size_t>(tensor->item())); });
    }
    for (GlobalTensor* tensor : sorted) {
      if (!tensor->has_values()) continue;
      tensor->for_each([&](char* at) { tensor->write({}, at, at, tensor->item(), Write::plain); });
    }
    begun_ = tensors_.size();
  }

  /// Everything before is ordered before everything after: a kernel starts, or a grid barrier ends.
  void next_epoch() { ++epoch_; }

  /// The memory of an argument of a kernel. One that nobody has described counts as written.
  Memory* memory(void* data, int item, int rank, int64_t const* shape, int64_t const* strides) {
    for (auto const& tensor : tensors_) {
      if (tensor->is(data, item, rank, shape, strides)) return tensor.get();
    }
    add(nullptr, data, item, rank, shape, strides, GlobalTensor::Role::in_place);
    begin();
    return tensors_.back().get();
  }

  /// The kernels have ended. @throws Finding when an element of an output was never written
  void finish() const {
    for (auto const& tensor : tensors_) tensor->require_written();
  }

 private:
  Call* outer_;
  std::vector<std::unique_ptr<GlobalTensor>> tensors_;
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t begun_ = 0;
  uint32_t epoch_ = 0;
};

/// Lives while a kernel runs: an epoch of the call around it, or of one of its own.
class Launch {
 public:
  Launch() {
    if (!Call::current()) own_ = std::make_unique<Call>();
    Call::current()->next_epoch();
  }

 private:
  std::unique_ptr<Call> own_;
};

}  // namespace checked
}  // namespace tilefoundry
