// One CTA whose instances are fibres: they switch at barriers and exchanges, in the order of their ids.
#pragma once

#include <tilefoundry/runtime/cpu/context.h>
#include <tilefoundry/runtime/cpu/instance.h>
#include <tilefoundry/runtime/cpu/mbarrier.h>

#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

class Cta {
 public:
  static constexpr size_t kExchangeBytes = 16;

  /// Runs `body` as every instance. @throws what an instance threw first, or the report of a divergent
  /// barrier
  template <class Body>
  void run(Instance const& whole, Body const& body) {
    begin(whole, body);
    meets_others_ = false;
    advance();
  }

  /// Prepares the instances of a CTA that meets others at grid barriers. `body` must live until all have
  /// ended.
  template <class Body>
  void begin(Instance const& whole, Body const& body) {
    start(whole);
    body_ = &body;
    call_ = [](void const* b) { (*static_cast<Body const*>(b))(); };
    running_ = 0;
    meets_others_ = true;
  }

  /// Runs every instance up to the next grid barrier, or to its end; always on the thread of the first call.
  /// @return whether all have ended @throws as `run`
  bool advance() {
    Instance const* const outer = current;  // of a kernel that launches another one
    current = &fibres_[running_].instance;
    thread_ = &fibre::thread_exceptions();
    outside_.enter();
    outside_.leave_for(fibres_[running_].context, *thread_);
    current = outer;
    if (alive_ == 0) {
      for (Fibre& f : fibres_) f.context.end();
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return alive_ == 0;
  }

  /// Unwinds the instances that wait at a grid barrier.
  void cancel() {
    cancelled_ = true;
    advance();
  }

  void barrier() { wait(cta_barrier_, threads(), "the CTA barrier"); }

  /// All instances of the CTA arrive, and go on at the next call of `advance`.
  void grid_barrier() {
    if (!meets_others_)
      throw std::logic_error("a grid barrier in a kernel whose CTAs run one after the other");
    wait(grid_, threads(), "the grid barrier");
  }

  void named_barrier(int id, int count) { wait(named_[id], count, "named barrier ", id); }

  void warp_barrier(unsigned mask) {
    int const warp = running_ / 32;
    int const present = threads() - 32 * warp;
    if (present < 32) mask &= (1u << present) - 1u;
    wait(warp_[{warp, mask}], __builtin_popcount(mask), "a warp barrier");
  }

  void arrive(Mbarrier& barrier) {
    if (!barrier.arrive()) return;
    auto const waiting = mbarrier_waiting_.find(&barrier);
    if (waiting == mbarrier_waiting_.end()) return;
    blocked_ -= waiting->second;
    mbarrier_waiting_.erase(waiting);
  }

  /// Until the phase of this parity has ended.
  void wait(Mbarrier const& barrier, unsigned parity) {
    if (cancelled_) throw Cancelled{};
    if (barrier.ended(parity)) return;
    ++mbarrier_waiting_[&barrier];
    block("a stage of a pipeline", [&] { return barrier.ended(parity); });
  }

  /// The value that the lane `distance` away (by exclusive or) passed to the same call.
  template <class T>
  T shuffle_xor(T value, int distance) {
    static_assert(sizeof(T) <= kExchangeBytes, "shuffle: the value is too large");
    Fibre& self = fibres_[running_];
    // Two buffers in turn: nobody reaches the next exchange in this buffer before all have met in the other
    // one.
    char* const buffer = exchange_[self.turn ^= 1].data();
    std::memcpy(buffer + kExchangeBytes * static_cast<size_t>(running_), &value, sizeof value);
    warp_barrier(0xffffffffu);
    int const partner = running_ ^ distance;
    if (partner < threads())
      std::memcpy(&value, buffer + kExchangeBytes * static_cast<size_t>(partner), sizeof value);
    return value;
  }

 private:
  struct Barrier {
    int arrived = 0;
    unsigned generation = 0;
  };

  struct Fibre {
    Instance instance;
    fibre::Context context;
    char const* waits_at = nullptr;
    int waits_number = -1;  // which of several
    bool finished = false;
    int next = 0;  // the following live fibre
    int turn = 0;
  };

  struct Cancelled {};  // unwinds the other instances once one has failed

  int threads() const { return static_cast<int>(fibres_.size()); }

  void start(Instance const& whole) {
    stacks_.reserve(whole.threads);
    fibres_.assign(static_cast<size_t>(whole.threads), Fibre{});
    for (int i = 0; i < whole.threads; ++i) {
      Fibre& f = fibres_[i];
      f.instance = whole;
      f.instance.thread = i;
      f.instance.fibres = this;
      f.context.prepare(stacks_.top(i), [] { current->fibres->main(); });
      f.next = (i + 1) % whole.threads;
    }
    for (auto& buffer : exchange_) buffer.resize(kExchangeBytes * fibres_.size());
    cta_barrier_ = grid_ = Barrier{};
    for (Barrier& b : named_) b = Barrier{};
    warp_.clear();
    mbarrier_waiting_.clear();
    alive_ = whole.threads;
    blocked_ = 0;
    previous_ = whole.threads - 1;
    cancelled_ = false;
  }

  [[noreturn]] void main() {
    fibres_[running_].context.arrive();
    try {
      call_(body_);
    } catch (Cancelled const&) {
    } catch (...) {
      if (!error_) error_ = located_current_exception(fibres_[running_].instance);
      cancelled_ = true;
    }
    finish();
  }

  [[noreturn]] void finish() {
    Fibre& self = fibres_[running_];
    self.waits_at = nullptr;
    self.finished = true;
    --alive_;
    if (alive_ > 0 && blocked_ == alive_ && !cancelled_) diverged();
    if (alive_ == 0) {
      self.context.leave_for(outside_, *thread_, true);
    } else {
      fibres_[previous_].next = self.next;
      resume(self.next, self, true);
    }
    std::terminate();  // nothing returns to a finished fibre
  }

  void wait(Barrier& barrier, int expected, char const* name, int number = -1) {
    if (cancelled_) throw Cancelled{};
    if (++barrier.arrived == expected) {
      if (&barrier == &grid_) leave();
      barrier.arrived = 0;
      ++barrier.generation;
      blocked_ -= expected - 1;
      return;
    }
    unsigned const generation = barrier.generation;
    block(name, [&] { return barrier.generation != generation; }, number);
  }

  /// Lets others run until `done`; whoever makes it so has taken the instance off `blocked_`.
  template <class Done>
  void block(char const* name, Done const& done, int number = -1) {
    Fibre& self = fibres_[running_];
    self.waits_at = name;
    self.waits_number = number;
    ++blocked_;
    if (blocked_ == alive_) diverged();
    while (!done()) {
      if (cancelled_) throw Cancelled{};
      previous_ = running_;
      resume(self.next, self);
    }
    self.waits_at = nullptr;
  }

  /// Suspends the CTA; the others go first.
  void leave() {
    Fibre& self = fibres_[running_];
    self.waits_at = "the grid barrier";
    self.context.leave_for(outside_, *thread_);
    if (cancelled_) throw Cancelled{};
    self.waits_at = nullptr;
  }

  void resume(int next, Fibre& self, bool last = false) {
    running_ = next;
    current = &fibres_[next].instance;
    self.context.leave_for(fibres_[next].context, *thread_, last);
  }

  /// Where an instance waits, "" when it has finished: "named barrier 3", and in checking mode in which op.
  std::string place_of(int i) const {
    Fibre const& fibre = fibres_[i];
    if (fibre.finished) return "";
    std::string place = fibre.waits_at;
    if (fibre.waits_number >= 0) place += std::to_string(fibre.waits_number);
#if defined(TILEFOUNDRY_CHECKED)
    checked::Cta const* const checks = fibre.instance.checks;
    if (char const* const op = checks ? checks->ops[static_cast<size_t>(i)] : nullptr)
      place += std::string(" in ") + op;
#endif
    return place;
  }

  /// Every live instance waits: report where, and unwind them.
  void diverged() {
    std::string text = "barrier divergence in CTA " + std::to_string(fibres_[0].instance.cta) + ":";
    for (int i = 0, n = threads(); i < n;) {
      int last = i;
      std::string const place = place_of(i);
      while (last + 1 < n && place_of(last + 1) == place) ++last;
      bool const several = last > i;
      text += (i ? ", thread" : " thread") + std::string(several ? "s " : " ") + std::to_string(i);
      if (several) text += "-" + std::to_string(last);
      if (fibres_[i].finished) {
        text += several ? " have finished" : " has finished";
      } else {
        text += (several ? " wait at " : " waits at ") + place;
      }
      i = last + 1;
    }
    if (!error_) error_ = std::make_exception_ptr(DivergenceError(text));
    cancelled_ = true;
  }

  fibre::Stacks stacks_;
  std::vector<Fibre> fibres_;
  std::vector<char> exchange_[2];
  Barrier cta_barrier_, grid_, named_[16];
  std::map<std::pair<int, unsigned>, Barrier> warp_;
  std::map<void const*, int> mbarrier_waiting_;  // how many instances
  void const* body_ = nullptr;
  void (*call_)(void const*) = nullptr;
  fibre::Context outside_;
  fibre::Exceptions* thread_ = nullptr;  // of the thread that runs the fibres
  int running_ = 0;
  int previous_ = 0;  // the live fibre before the running one
  int alive_ = 0;
  int blocked_ = 0;
  bool cancelled_ = false;
  bool meets_others_ = false;
  std::exception_ptr error_;
};

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
