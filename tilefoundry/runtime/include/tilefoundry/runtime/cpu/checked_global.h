// Global memory in checking mode: what each element of the arguments has been through in one call.
#pragma once

#include <tilefoundry/runtime/cpu/checked_cta.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tilefoundry {
namespace checked {

/// Who has accessed a granule of global memory.
struct GlobalAccesses {
  Accesses cta;                                       ///< by the instances of one CTA, the last that did
  int write_cta = -1, read_cta = -1, plain_cta = -1;  ///< plain: writes that are no additions
  uint32_t write_epoch = 0, read_epoch = 0, plain_epoch = 0;  ///< launches and grid barriers divide a call
  int16_t write_thread = -1, read_thread = -1, plain_thread = -1;
  uint16_t held = 0;           ///< asynchronous copies from it that nobody has waited for
  bool several_read = false;   ///< another CTA than read_cta has read in read_epoch, too
  bool several_added = false;  ///< in write_epoch, several CTAs have added
};

/// Memory that tensors share: the arguments that overlap, or one by itself.
struct Block {
  char* begin = nullptr;
  char* end = nullptr;
  int granule = 1;
  std::vector<GlobalAccesses> granules;

  /// The granules become what f(address) gives.
  template <class F>
  void fill(F const& f) {
    granules.clear();
    for (char* p = begin; p < end; p += granule) granules.push_back(f(p));
  }

  GlobalAccesses& at(char const* p) {
    return granules[static_cast<size_t>(p - begin) / static_cast<size_t>(granule)];
  }
};

/// A tensor that a call was given.
class GlobalTensor : public Memory {
 public:
  static constexpr int kMaxRank = 8;
  enum class Role {
    input,
    output,     ///< nobody has written it, and a kernel must
    in_place,   ///< an output that is an input, too
    workspace,  ///< nobody has written it, and nobody need
  };

  GlobalTensor(char const* name, void* data, int item, int rank, int64_t const* shape, int64_t const* strides,
               Role role)
      : name_(name), data_(static_cast<char*>(data)), item_(item), rank_(rank), role_(role) {
    if (rank > kMaxRank || std::any_of(strides, strides + rank, [](int64_t stride) { return stride < 0; })) {
      throw std::invalid_argument("checked::Call: " + quoted(name, "an argument") +
                                  ": expected a rank up to " + std::to_string(kMaxRank) +
                                  " and strides that are not negative, got strides " +
                                  tuple_text(strides, rank) + "; describe the memory that it is a view of");
    }
    std::copy_n(shape, rank, shape_);
    std::copy_n(strides, rank, strides_);
    for (int k = 0; k < rank; ++k) order_[k] = k;
    std::stable_sort(order_, order_ + rank, [&](int a, int b) { return strides_[a] > strides_[b]; });
    for (int k = 0; k < rank; ++k) {
      elements_ *= shape[k];
      reach_ += (shape[k] - 1) * strides[k];
    }
    for (int n = rank - 1; n > 0; --n)
      rests_[n - 1] = rests_[n] + (shape[order_[n]] - 1) * strides[order_[n]];
  }

  bool is(void const* data, int item, int rank, int64_t const* shape, int64_t const* strides) const {
    return data == data_ && item == item_ && rank == rank_ && std::equal(shape, shape + rank, shape_) &&
           std::equal(strides, strides + rank, strides_);
  }

  char* begin() const { return data_; }
  char* end() const { return elements_ ? data_ + (reach_ + 1) * item_ : data_; }
  int item() const { return item_; }
  /// Whether it holds values before the first kernel runs.
  bool has_values() const { return role_ == Role::input || role_ == Role::in_place; }
  Block* block() const { return block_; }
  void bind(Block* block, uint32_t const* epoch) {
    block_ = block;
    epoch_ = epoch;
  }
  /// This is a view of elements of `whole`, which findings name.
  void set_whole(GlobalTensor const* whole) { whole_ = whole; }
  bool has_name() const { return name_ != nullptr; }

  /// f(address) for each element, in row-major order.
  template <class F>
  void for_each(F const& f) const {
    int64_t index[kMaxRank] = {};
    for (int64_t n = 0; n < elements_; ++n) {
      int64_t offset = 0;
      for (int k = 0; k < rank_; ++k) offset += index[k] * strides_[k];
      f(data_ + offset * item_);
      for (int k = rank_ - 1; k >= 0 && ++index[k] == shape_[k]; --k) index[k] = 0;
    }
  }

  void read(Here here, char const* at, int bytes) override {
    inside(here, at, bytes, "reads");
    for (char const* p = at; p < at + bytes; p += block_->granule) {
      GlobalAccesses& g = block_->at(p);
      if (g.cta.writers == Order::kNone) uninitialised(here, at);
      if (!here.cta) continue;
      if (g.write_epoch == *epoch_ && (g.write_cta != here.id || g.several_added)) {
        race(here, at, "reads", instance_text(g.write_cta, g.write_thread) + " writes");
      }
      own(g, here);
      Accesses::Result const result = g.cta.read(*here.order, here.thread);
      if (result.verdict == Accesses::Verdict::race) {
        race(here, at, "reads", instance_text(here.id, result.other) + " " + result.did);
      }
      if (g.read_epoch != *epoch_) {
        g.read_epoch = *epoch_;
        g.read_cta = here.id;
        g.several_read = false;
        g.read_thread = static_cast<int16_t>(here.thread);
      } else if (g.read_cta != here.id) {
        g.several_read = true;
      }
    }
  }

  void write(Here here, char* at, void const* value, int bytes, Write kind) override {
    inside(here, at, bytes, "writes");
    bool const same = std::memcmp(at, value, static_cast<size_t>(bytes)) == 0;
    for (char* p = at; p < at + bytes; p += block_->granule) {
      GlobalAccesses& g = block_->at(p);
      if (!here.cta) {
        g.cta = Accesses{Order::kEarlier, Order::kNone};
        continue;
      }
      if (g.held > 0) held(here, at);
      bool const by_other_cta = g.write_epoch == *epoch_ && g.write_cta != here.id;
      bool const add = kind == Write::atomic;
      if (by_other_cta && !(add ? g.cta.atomic : same && !g.cta.atomic))
        conflict(here, at, instance_text(g.write_cta, g.write_thread));
      if (add && g.plain_epoch == *epoch_ && g.plain_cta != here.id)
        race(here, at, "writes", instance_text(g.plain_cta, g.plain_thread) + " writes");
      if (g.read_epoch == *epoch_ && (g.several_read || g.read_cta != here.id)) {
        bool const own_replica = same && !add && by_other_cta && !g.several_read && g.read_cta == g.write_cta;
        if (!own_replica) {
          int const thread = g.read_thread;
          race(here, at, "writes", instance_text(g.read_cta, thread) + " reads");
        }
      }
      own(g, here);
      g.several_added = add && g.write_epoch == *epoch_ && (g.several_added || by_other_cta);
      Accesses::Result const result =
          add ? g.cta.add(*here.order, here.thread) : g.cta.write(*here.order, here.thread, same);
      if (result.verdict == Accesses::Verdict::uninitialised) uninitialised(here, at);
      if (result.verdict == Accesses::Verdict::conflict)
        conflict(here, at, instance_text(here.id, result.other));
      if (result.verdict == Accesses::Verdict::race) {
        race(here, at, "writes", instance_text(here.id, result.other) + " " + result.did);
      }
      g.write_epoch = *epoch_;
      g.write_cta = here.id;
      g.write_thread = static_cast<int16_t>(here.thread);
      if (add) continue;
      g.plain_epoch = g.write_epoch;
      g.plain_cta = g.write_cta;
      g.plain_thread = g.write_thread;
    }
  }

  void hold(char const* at, int bytes) override {
    for (char const* p = at; p < at + bytes; p += block_->granule) ++block_->at(p).held;
  }
  void release(char const* at, int bytes) override {
    for (char const* p = at; p < at + bytes; p += block_->granule) --block_->at(p).held;
  }

  std::string element(char const* at) const override {
    if (whole_) return whole_->element(at);
    int64_t index[kMaxRank];
    locate((at - data_) / item_, index);
    return quoted(name_, "an argument") + tuple_text(index, rank_);
  }

  std::string shape() const override {
    return tuple_text(shape_, rank_) + (whole_ ? " of a view of it" : "");
  }

  /// @throws Finding when this is an output with an element that nobody has written
  void require_written() const {
    if (role_ != Role::output) return;
    int64_t missing = 0;
    char const* first = nullptr;
    for_each([&](char const* at) {
      if (block_->at(at).cta.writers != Order::kNone) return;
      if (!missing++) first = at;
    });
    if (missing == 0) return;
    throw Finding("unwritten output: " + std::to_string(missing) + " of " + std::to_string(elements_) +
                  " elements of '" + name_ + "' were never written, the first is " + element(first));
  }

 private:
  /// The accesses of the CTA's instances; those of another CTA, or of an earlier epoch, are no concern of its
  /// clocks.
  void own(GlobalAccesses& g, Here here) const {
    if (g.cta.writers != Order::kNone && !(g.write_epoch == *epoch_ && g.write_cta == here.id)) {
      g.cta.writers = g.cta.added_to = Order::kEarlier;
    }
    if (!(g.read_epoch == *epoch_ && g.read_cta == here.id)) g.cta.readers = Order::kNone;
  }

  /// Coordinates of an element by its distance from the first one; outside of the shape when there is none.
  /// @return whether there is one
  bool locate(int64_t offset, int64_t* index) const {
    if (elements_ > 0 && find(offset, index, 0)) return true;
    for (int n = 0; n < rank_; ++n) {
      int const k = order_[n];
      int64_t const stride = strides_[k];
      index[k] = 0;
      if (stride > 0 && (shape_[k] > 1 || offset >= stride || offset < 0)) {
        index[k] = offset >= 0 ? offset / stride : -((-offset + stride - 1) / stride);
        offset -= index[k] * stride;
      }
    }
    return false;
  }

  /// The coordinates on the axes from the n-th longest stride on. Where strides overlap, as of windows of a
  /// signal, it may be that the longest leave a rest which the others do not meet, and fewer of them do.
  bool find(int64_t offset, int64_t* index, int n) const {
    if (n == rank_) return offset == 0;
    int const k = order_[n];
    int64_t const stride = strides_[k];
    index[k] = stride > 0 ? std::min(offset / stride, shape_[k] - 1) : 0;
    for (int64_t rest; index[k] >= 0 && (rest = offset - index[k] * stride) <= rests_[n]; --index[k]) {
      if (rest >= 0 && find(rest, index, n + 1)) return true;
    }
    return false;
  }

  void inside(Here here, char const* at, int bytes, char const* does) const {
    int64_t index[kMaxRank];
    bool const whole = (at - data_) % item_ == 0 && bytes == item_;
    if (at < data_ || at + bytes > end() || (whole && !locate((at - data_) / item_, index))) {
      out_of_bounds(here, at, does);
    }
  }

  char const* name_;
  char* data_;
  int item_;
  int rank_;
  Role role_;
  int64_t shape_[kMaxRank], strides_[kMaxRank];
  int order_[kMaxRank];  ///< axes by stride, the longest first
  int64_t elements_ = 1, reach_ = 0;
  int64_t rests_[kMaxRank] = {};  ///< how far the axes behind one in this order reach
  GlobalTensor const* whole_ = nullptr;
  Block* block_ = nullptr;
  uint32_t const* epoch_ = nullptr;
};

}  // namespace checked
}  // namespace tilefoundry
