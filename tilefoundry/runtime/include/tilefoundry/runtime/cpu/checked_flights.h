// Asynchronous copies in checking mode: what an instance has started and not waited for.
#pragma once

#include <cstdint>
#include <deque>

namespace tilefoundry {
namespace checked {

class Memory;

/// Bytes that a copy will write, or still reads.
struct Flight {
  char const* at;
  int bytes;
  int64_t group;
  Memory* source;  ///< of what is read; null for what is written
};

/// The copies that one instance has started, in groups that it closes and waits for in order.
class Flights {
 public:
  void start(char const* at, int bytes, Memory* source) { open_.push_back({at, bytes, closed_, source}); }

  void close_group() { ++closed_; }

  /// All but the last `pending` closed groups are over. @param f called with each of their copies
  template <class F>
  void end(int pending, F const& f) {
    while (!open_.empty() && open_.front().group < closed_ - pending) {
      f(open_.front());
      open_.pop_front();
    }
  }

  bool empty() const { return open_.empty(); }
  Flight const& oldest() const { return open_.front(); }

 private:
  std::deque<Flight> open_;
  int64_t closed_ = 0;
};

}  // namespace checked
}  // namespace tilefoundry
