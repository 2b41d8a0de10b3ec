// The state of a CTA in checking mode: its instances, its shared memory, and the tiles in it.
#pragma once

#include <tilefoundry/runtime/cpu/checked_flights.h>
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
      if (result.verdict != Accesses::Verdict::fine) refuse(here, at, result, "reads");
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
      if (result.verdict != Accesses::Verdict::fine) refuse(here, at, result, "writes");
    }
    if (kind == Write::in_flight) remember(here, at, bytes);
  }

  void store_from(Here here, char const* at, int bytes) override {
    read(here, at, bytes);
    for (int i = 0; i < bytes; ++i) ++cell(at + i).stores;
    remember_store(here, at, bytes);
  }

  bool holds(char const* at) const { return inside(at, 1); }

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

  [[noreturn]] void refuse(Here here, char const* at, Accesses::Result const& result,
                           char const* does) const {
    if (is_engine(here, result.other)) in_flight(here, at, does);
    std::string const other = instance_text(here.id, result.other);
    switch (result.verdict) {
      case Accesses::Verdict::uninitialised:
        uninitialised(here, at, " before it; without a barrier, others write later");
      case Accesses::Verdict::in_flight:
        in_flight(here, at, does);
      case Accesses::Verdict::stored:
        stored(here, at);
      case Accesses::Verdict::conflict:
        conflict(here, at, other);
      default:
        race(here, at, does, other + " " + result.did);
    }
  }

  static inline bool is_engine(Here here, int instance);
  inline void remember(Here here, char const* at, int bytes);
  inline void remember_store(Here here, char const* at, int bytes);

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
      : id(id),
        ops(static_cast<size_t>(threads)),
        flights(static_cast<size_t>(threads)),
        stores(static_cast<size_t>(threads)),
        shared(shared) {
    accesses.resize(static_cast<size_t>(bytes));
    order.start(threads + 1);
    shared_end = shared + bytes;
  }
  Cta(Cta const&) = delete;
  Cta& operator=(Cta const&) = delete;
  /// What is in flight when the instances end, lands.
  ~Cta() {
    for (int thread = 0; thread < engine(); ++thread) {
      commit(thread);
      land(thread, 0);
    }
    for (auto& [barrier, stage] : stages) {
      for (std::vector<Flight>* loads : {&stage.started, &stage.landing}) land(*loads);
    }
  }

  /// Who has written what a stage of a pipeline was loaded with: those know of it who have waited for the
  /// stage, and not those who have started the loads.
  int engine() const { return static_cast<int>(ops.size()); }

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
    stage.landing.insert(stage.landing.end(), stage.started.begin(), stage.started.end());
    stage.started.clear();
  }

  /// An instance has waited for a phase of a stage to end.
  void pass_stage(void const* barrier, int thread) {
    Stage& stage = stages[barrier];
    if (!stage.landing.empty()) {
      land(stage.landing);
      order.arrive(stage.ended, engine());
    }
    order.meet(stage.ended, thread);
  }

  /// A copy of the instance's group that no commit has closed yet: to shared memory from `at` on, or from
  /// there in `source`.
  void start(int thread, char const* at, int bytes, Memory* source) {
    if (source) source->hold(at, bytes);
    flights[thread].start(at, bytes, source);
  }

  void commit(int thread) { flights[thread].close_group(); }

  /// All but the last `pending` groups of an instance have landed.
  void land(int thread, int pending) {
    flights[thread].end(pending, [&](Flight const& flight) { land(flight, thread); });
  }

  /// What an instance has started to load lands with the phase of a stage that is open.
  void deliver(void const* barrier, int thread) {
    commit(thread);
    flights[thread].end(0, [&](Flight const& flight) { stages[barrier].started.push_back(flight); });
  }

  /// All but the last `pending` stores of an instance have read their tiles.
  void end_stores(int thread, int pending) {
    stores[thread].end(pending, [&](Flight const& flight) {
      for (int i = 0; i < flight.bytes; ++i) {
        Accesses& byte = at(flight.at + i);
        --byte.stores;
        byte.readers = order.with(byte.readers, thread);
      }
    });
  }

  /// All instances have ended. @throws Finding when copies from or to shared memory go on
  void finish() const {
    for (int thread = 0; thread < engine(); ++thread) {
      if (stores[thread].empty()) continue;
      throw Finding("access to a store in flight: instance " + instance_text(id, thread) +
                    " ends, and has not waited for its asynchronous store of " +
                    element(stores[thread].oldest().at));
    }
    for (auto const& [barrier, stage] : stages) {
      for (std::vector<Flight> const* loads : {&stage.started, &stage.landing}) {
        for (Flight const& flight : *loads) {
          if (flight.source) continue;
          throw Finding("access to a load in flight: CTA " + std::to_string(id) +
                        " ends, and nobody has waited for the asynchronous load of " + element(flight.at));
        }
      }
    }
  }

  struct Stage {
    Order::Knowledge open;        ///< of those who have arrived in the current phase
    Order::Knowledge ended;       ///< of those in phases before
    std::vector<Flight> started;  ///< loads that land with the current phase
    std::vector<Flight> landing;  ///< those of phases before, for which nobody has waited yet
  };

  int id;
  Order order;                   ///< of the instances, and of the engine
  std::vector<char const*> ops;  ///< what each instance runs; null for the kernel's own statements
  std::vector<Flights> flights;  ///< loads of each instance
  std::vector<Flights> stores;
  std::vector<Accesses> accesses;  ///< of each byte of shared memory
  std::deque<Tile> tiles;
  std::map<uint64_t, std::vector<int>> meetings;
  std::map<void const*, Stage> stages;
  char* shared;
  char* shared_end;

 private:
  Accesses& at(char const* p) { return accesses[static_cast<size_t>(p - shared)]; }

  void land(Flight const& flight, int writer) {
    if (flight.source) {
      flight.source->release(flight.at, flight.bytes);
    } else {
      for (int i = 0; i < flight.bytes; ++i) at(flight.at + i).land(order, writer);
    }
  }

  void land(std::vector<Flight>& loads) {
    for (Flight const& flight : loads) land(flight, engine());
    loads.clear();
  }

  std::string element(char const* at) const {
    for (Tile const& tile : tiles) {
      if (tile.holds(at)) return tile.element(at);
    }
    return "a shared tile";
  }
};

inline bool Tile::is_engine(Here here, int instance) { return instance == here.cta->engine(); }

inline void Tile::remember(Here here, char const* at, int bytes) {
  here.cta->start(here.thread, at, bytes, nullptr);
}

inline void Tile::remember_store(Here here, char const* at, int bytes) {
  here.cta->stores[static_cast<size_t>(here.thread)].start(at, bytes, nullptr);
}

}  // namespace checked
}  // namespace tilefoundry
