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

  /// Adds an argument. @param strides in elements, none of them negative
  /// @throws std::invalid_argument for others, and for a rank above GlobalTensor::kMaxRank
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
      blocks_[i]->fill([](char*) { return GlobalAccesses{}; });
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

  /// The memory of an argument of a kernel. A view of what was described shares its memory; what nobody has
  /// described counts as written.
  Memory* memory(void* data, int item, int rank, int64_t const* shape, int64_t const* strides) {
    for (auto const& tensor : tensors_) {
      if (tensor->is(data, item, rank, shape, strides)) return tensor.get();
    }
    add(nullptr, data, item, rank, shape, strides, GlobalTensor::Role::in_place);
    begun_ = tensors_.size();
    adopt(*tensors_.back());
    return tensors_.back().get();
  }

  /// The kernels have ended. @throws Finding when an element of an output was never written
  void finish() const {
    for (auto const& tensor : tensors_) tensor->require_written();
  }

 private:
  void adopt(GlobalTensor& tensor) {
    auto joined = std::make_unique<Block>();
    joined->begin = tensor.begin();
    joined->end = tensor.end();
    joined->granule = tensor.item();
    std::vector<std::unique_ptr<Block>> parts;
    for (std::unique_ptr<Block>& block : blocks_) {
      if (block->begin >= tensor.end() || tensor.begin() >= block->end) continue;
      joined->begin = std::min(joined->begin, block->begin);
      joined->end = std::max(joined->end, block->end);
      joined->granule = std::min(joined->granule, block->granule);
      parts.push_back(std::move(block));
    }
    for (auto const& part : parts) {
      while ((part->begin - joined->begin) % joined->granule) joined->granule /= 2;
    }
    while ((tensor.begin() - joined->begin) % joined->granule) joined->granule /= 2;
    blocks_.erase(std::remove(blocks_.begin(), blocks_.end(), nullptr), blocks_.end());
    joined->fill([&](char* at) {
      for (auto const& part : parts) {
        if (at >= part->begin && at < part->end) return part->at(at);
      }
      GlobalAccesses written;
      written.cta.writers = Order::kEarlier;
      return written;
    });
    for (auto const& other : tensors_) {
      bool const is_part = std::any_of(parts.begin(), parts.end(),
                                       [&](auto const& part) { return part.get() == other->block(); });
      if (is_part) other->bind(joined.get(), &epoch_);
      if (is_part && other->has_name() && other->begin() <= tensor.begin() && tensor.end() <= other->end())
        tensor.set_whole(other.get());
    }
    tensor.bind(joined.get(), &epoch_);
    blocks_.push_back(std::move(joined));
  }

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
