// The state of a CTA in checking mode: its instances, its shared memory, and the tiles in it.
#pragma once

#include <tilefoundry/runtime/cpu/checked_memory.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

namespace tilefoundry {
namespace checked {

/// How the elements of a tile or fragment are called: only where it is made are its layouts known.
struct Description {
  std::string (*element)(char const* first, char const* at) = nullptr;
  std::string (*shape)() = nullptr;
};

inline std::string quoted(char const* name, char const* otherwise) {
  return name ? "'" + std::string(name) + "'" : std::string(otherwise);
}

/// A tile in a CTA's shared memory.
class Tile : public Memory {
 public:
  Tile(char* first, int bytes, char const* name, Description description, char* shared,
       std::vector<Accesses>& accesses, std::deque<Tile> const& tiles)
      : first_(first),
        bytes_(bytes),
        name_(name),
        description_(description),
        shared_(shared),
        accesses_(accesses),
        tiles_(tiles) {}

  bool is(char const* first, int bytes, char const* name, Description const& description) const {
    return first == first_ && bytes == bytes_ && name == name_ && description.element == description_.element;
  }

  void read(Here here, char const* at, int bytes) override {
    inside(here, at, bytes, "reads");
    for (int i = 0; i < bytes; ++i) {
      Accesses::Result const result = cell(at + i).read(*here.order, here.thread);
      if (result.verdict != Accesses::Verdict::fine) refuse(here, at, result, "reads", "writes");
    }
  }

  void write(Here here, char* at, void const* value, int bytes, Write kind) override {
    inside(here, at, bytes, "writes");
    bool const same = std::memcmp(at, value, static_cast<size_t>(bytes)) == 0;
    for (int i = 0; i < bytes; ++i) {
      Accesses& byte = cell(at + i);
      Accesses::Result const result = kind == Write::atomic ? byte.add(*here.order, here.thread)
                                      : kind == Write::in_flight
                                          ? byte.take_off(*here.order, here.thread, same)
                                          : byte.write(*here.order, here.thread, same);
      if (result.verdict != Accesses::Verdict::fine) refuse(here, at, result, "writes", "accesses");
    }
    if (kind == Write::in_flight) remember(here, at, bytes);
  }

  /// Windows of a tile are told by the whole tile's coordinates.
  std::string element(char const* at) const override {
    Tile const* whole = this;
    for (Tile const& tile : tiles_) {
      if (inside(at, 1) && tile.encloses(*whole)) whole = &tile;
    }
    return quoted(whole->name_, "a shared tile") + whole->description_.element(whole->first_, at);
  }
  std::string shape() const override { return description_.shape(); }

 private:
  Accesses& cell(char const* at) const { return accesses_[static_cast<size_t>(at - shared_)]; }

  bool inside(char const* at, int bytes) const { return at >= first_ && at + bytes <= first_ + bytes_; }
  bool encloses(Tile const& other) const {
    return bytes_ > other.bytes_ && inside(other.first_, other.bytes_);
  }
  void inside(Here here, char const* at, int bytes, char const* does) const {
    if (!inside(at, bytes)) out_of_bounds(here, at, does);
  }

  [[noreturn]] void refuse(Here here, char const* at, Accesses::Result const& result, char const* does,
                           char const* other_does) const {
    std::string const other = instance_text(here.id, result.other);
    switch (result.verdict) {
      case Accesses::Verdict::uninitialised:
        uninitialised(here, at, " before it; without a barrier, others write later");
      case Accesses::Verdict::in_flight:
        in_flight(here, at, does);
      case Accesses::Verdict::conflict:
        conflict(here, at, other);
      default:
        race(here, at, does, other + " " + other_does);
    }
  }

  inline void remember(Here here, char const* at, int bytes);

  char* first_;
  int bytes_;
  char const* name_;
  Description description_;
  char* shared_;
  std::vector<Accesses>& accesses_;
  std::deque<Tile> const& tiles_;  ///< of the CTA
};

struct Cta {
  /// @param shared fresh shared memory of `bytes` bytes: nobody has written it
  Cta(int id, int threads, char* shared, int bytes)
      : id(id), ops(static_cast<size_t>(threads)), flights(static_cast<size_t>(threads)), shared(shared) {
    accesses.resize(static_cast<size_t>(bytes));
    order.start(threads);
    shared_end = shared + bytes;
  }
  Cta(Cta const&) = delete;
  Cta& operator=(Cta const&) = delete;
  /// What is in flight when the instances end, lands.
  ~Cta() {
    for (int thread = 0; thread < static_cast<int>(flights.size()); ++thread) {
      commit(thread);
      land(thread, 0);
    }
  }

  /// The tile of `bytes` bytes from `first` on.
  /// @throws Finding when it reaches beyond the CTA's shared memory
  Tile* tile(char* first, int bytes, char const* name, Description const& description) {
    for (Tile& known : tiles) {
      if (known.is(first, bytes, name, description)) return &known;
    }
    if (first < shared || first + bytes > shared_end) {
      throw Finding("out of bounds: " + quoted(name, "a shared tile") + " takes bytes " +
                    std::to_string(first - shared) + " to " + std::to_string(first - shared + bytes) +
                    " of the " + std::to_string(accesses.size()) +
                    " bytes of shared memory that the CTA was launched with");
    }
    return &tiles.emplace_back(first, bytes, name, description, shared, accesses, tiles);
  }

  /// An instance arrives at a barrier; the last of `expected` ones orders what all of them did.
  void arrive(uint64_t barrier, int thread, int expected) {
    std::vector<int>& arrived = meetings[barrier];
    arrived.push_back(thread);
    if (static_cast<int>(arrived.size()) < expected) return;
    if (expected == static_cast<int>(ops.size())) {
      order.meet_all();
    } else {
      order.meet(arrived);
    }
    arrived.clear();
  }

  /// An instance arrives at a stage of a pipeline, perhaps as the last one, without waiting.
  void arrive_at_stage(void const* barrier, int thread, bool last) {
    Stage& stage = stages[barrier];
    order.arrive(stage.open, thread);
    if (!last) return;
    Order::add(stage.ended, stage.open);
    stage.open.clear();
  }

  /// An instance has waited for a phase of a stage to end.
  void pass_stage(void const* barrier, int thread) { order.meet(stages[barrier].ended, thread); }

  /// A copy of the instance's group that no commit has closed yet: to shared memory from `at` on, or from
  /// there in `source`.
  void start(int thread, char const* at, int bytes, Memory* source) {
    if (source) source->hold(at, bytes);
    flights[thread].open.push_back({at, bytes, flights[thread].committed, source});
  }

  void commit(int thread) { ++flights[thread].committed; }

  /// All but the last `pending` groups of an instance have landed.
  void land(int thread, int pending) {
    Flights& mine = flights[thread];
    while (!mine.open.empty() && mine.open.front().group < mine.committed - pending) {
      Flight const& flight = mine.open.front();
      if (flight.source) flight.source->release(flight.at, flight.bytes);
      for (int i = 0; !flight.source && i < flight.bytes; ++i) {
        accesses[static_cast<size_t>(flight.at - shared + i)].land(order, thread);
      }
      mine.open.pop_front();
    }
  }

  struct Stage {
    Order::Knowledge open;   ///< of those who have arrived in the current phase
    Order::Knowledge ended;  ///< of those in phases before
  };
  struct Flight {
    char const* at;
    int bytes;
    int64_t group;
    Memory* source;  ///< of what is read; null for what is written
  };
  struct Flights {
    std::deque<Flight> open;
    int64_t committed = 0;
  };

  int id;
  Order order;
  std::vector<char const*> ops;  ///< what each instance runs; null for the kernel's own statements
  std::vector<Flights> flights;
  std::vector<Accesses> accesses;  ///< of each byte of shared memory
  std::deque<Tile> tiles;
  std::map<uint64_t, std::vector<int>> meetings;
  std::map<void const*, Stage> stages;
  char* shared;
  char* shared_end;
};

inline void Tile::remember(Here here, char const* at, int bytes) {
  here.cta->start(here.thread, at, bytes, nullptr);
}

}  // namespace checked
}  // namespace tilefoundry
