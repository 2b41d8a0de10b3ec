// Which accesses of the instances of one CTA are ordered: vector clocks, and sets of accesses as numbers.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace tilefoundry {
namespace checked {

/// A barrier of the whole CTA orders all that came before it, so that only accesses since the last one are
/// told apart. Between two of these, an instance has a clock that each barrier of fewer instances advances,
/// and knows how far it has met the clocks of others.
///
/// A set of accesses is a chain of nodes (the set without one access, that access), and equal chains are one
/// number: a cell of shadow memory holds all its readers in 32 bits.
class Order {
 public:
  using Set = uint32_t;
  static constexpr Set kNone = 0;     ///< no access at all
  static constexpr Set kEarlier = 1;  ///< accesses that are ordered before everything from now on
  static constexpr Set kMost = 0xffffffff;

  /// Instances 0 to threads - 1 begin; what came before is over.
  void start(int threads) {
    threads_.assign(static_cast<size_t>(threads), Thread{});
    meet_all();
  }

  /// A barrier of all instances.
  void meet_all() {
    first_ += static_cast<Set>(nodes_.size());
    nodes_.clear();
    members_.clear();
    known_.clear();
    last_key_ = kNoKey;
    for (Thread& thread : threads_) {
      thread.met.clear();
      tick(thread);
    }
  }

  /// A barrier of some instances: each knows afterwards what any of them knew.
  void meet(std::vector<int> const& participants) {
    std::vector<uint32_t> joined(threads_.size(), 0);
    for (int p : participants) {
      std::vector<uint32_t> const& met = threads_[p].met;
      for (size_t u = 0; u < met.size(); ++u) joined[u] = met[u] > joined[u] ? met[u] : joined[u];
    }
    for (int p : participants) joined[p] = members_[threads_[p].member].clock;
    for (int p : participants) {
      threads_[p].met = joined;
      tick(threads_[p]);
    }
  }

  /// What instances knew that have arrived somewhere without waiting.
  using Knowledge = std::vector<uint32_t>;

  /// `thread` arrives: what it did so far can be met.
  void arrive(Knowledge& knowledge, int thread) {
    add(knowledge, threads_[thread].met);
    knowledge.resize(threads_.size());
    knowledge[thread] = members_[threads_[thread].member].clock;
    tick(threads_[thread]);
  }

  /// `thread` meets those who have arrived.
  void meet(Knowledge const& knowledge, int thread) { add(threads_[thread].met, knowledge); }

  static void add(Knowledge& to, Knowledge const& more) {
    if (to.size() < more.size()) to.resize(more.size());
    for (size_t u = 0; u < more.size(); ++u) to[u] = more[u] > to[u] ? more[u] : to[u];
  }

  /// Whether accesses of the set may be unordered with what happens now.
  bool live(Set set) const { return set >= first_; }

  /// The set with what `thread` does now.
  Set with(Set set, int thread) {
    uint32_t const member = threads_[thread].member;
    if (live(set) && nodes_[set - first_].member == member) return set;
    if (!live(set)) set = kNone;
    uint64_t const key = static_cast<uint64_t>(set) << 32 | member;
    if (key == last_key_) return last_set_;
    last_key_ = key;
    auto const [place, added] = known_.try_emplace(key, kNone);
    if (added) place->second = holds(set, member) ? set : add(set, member);
    return last_set_ = place->second;
  }

  /// Whether there are accesses, and one of them is ordered before what `thread` does now.
  bool any_ordered(Set set, int thread) const {
    return set != kNone && (!live(set) || any_before(set, thread));
  }
  bool any_before(Set set, int thread) const {
    for (; live(set); set = nodes_[set - first_].parent) {
      if (before(set, thread)) return true;
    }
    return false;
  }

  /// The instance of an access in the set that is not ordered before what `thread` does now and for which
  /// `counts` holds; -1 when there is none.
  template <class Counts>
  int unordered(Set set, int thread, Counts const& counts) const {
    for (; live(set); set = nodes_[set - first_].parent) {
      if (!before(set, thread) && counts(instance(set))) return instance(set);
    }
    return -1;
  }
  int unordered(Set set, int thread) const {
    return unordered(set, thread, [](int) { return true; });
  }

  /// Whether an instance has an access in the set.
  bool by(Set set, int thread) const {
    for (; live(set); set = nodes_[set - first_].parent) {
      if (instance(set) == thread) return true;
    }
    return false;
  }

 private:
  struct Thread {
    uint32_t clock = 0;
    uint32_t member = 0;        // the number of (thread, clock) in members_
    std::vector<uint32_t> met;  // the clock up to which each other instance has been met; empty: nobody
  };
  struct Member {
    uint32_t thread;
    uint32_t clock;
  };
  struct Node {
    Set parent;
    uint32_t member;
  };

  static constexpr uint64_t kNoKey = ~uint64_t{0};

  void tick(Thread& thread) {
    ++thread.clock;
    thread.member = static_cast<uint32_t>(members_.size());
    members_.push_back({static_cast<uint32_t>(&thread - threads_.data()), thread.clock});
  }

  int instance(Set set) const { return static_cast<int>(members_[nodes_[set - first_].member].thread); }

  bool before(Set set, int thread) const {
    Member const& access = members_[nodes_[set - first_].member];
    if (static_cast<int>(access.thread) == thread) return true;
    std::vector<uint32_t> const& met = threads_[thread].met;
    return !met.empty() && access.clock <= met[access.thread];
  }

  bool holds(Set set, uint32_t member) const {
    for (; live(set); set = nodes_[set - first_].parent) {
      if (nodes_[set - first_].member == member) return true;
    }
    return false;
  }

  Set add(Set parent, uint32_t member) {
    Set const set = first_ + static_cast<Set>(nodes_.size());
    if (set == kMost) throw std::length_error("checking mode: the launch is too long to be checked");
    nodes_.push_back({parent, member});
    return set;
  }

  std::vector<Thread> threads_;
  std::vector<Member> members_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, Set> known_;
  uint64_t last_key_ = kNoKey;
  Set last_set_ = kNone;
  Set first_ = 2;  // the number of nodes_[0]
};

}  // namespace checked
}  // namespace tilefoundry
