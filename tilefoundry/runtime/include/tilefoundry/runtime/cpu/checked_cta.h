// The state of a CTA in checking mode: its instances, its shared memory, and the tiles in it.
#pragma once

#include <tilefoundry/runtime/cpu/checked_flights.h>
#include <tilefoundry/runtime/cpu/checked_tile.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

namespace tilefoundry {
namespace checked {

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
  /// @param named its number, -1 where the participants are those of the barrier itself
  void arrive(uint64_t barrier, int thread, int expected, int named) {
    Meeting& meeting = meetings[barrier];
    std::vector<int>& arrived = meeting.arrived;
    if (arrived.empty()) meeting.expected = expected;
    if (named >= 0) require_fit(meeting, thread, expected, named);
    arrived.push_back(thread);
    if (static_cast<int>(arrived.size()) < expected) return;
    if (named >= 0) {
      meeting.passed = Order::kNone;
      for (int p : arrived) meeting.passed = order.with(meeting.passed, p);
    }
    if (expected == static_cast<int>(ops.size())) {
      order.meet_all();
    } else {
      order.meet(arrived);
    }
    arrived.clear();
  }

  /// An instance makes the barrier of a stage of a pipeline, or plain memory of it again.
  void set_stage(char* barrier, int thread, bool is_barrier) {
    constexpr int bytes = 8;
    std::string const what = "instance " + instance_text(id, thread) + " makes a barrier of a pipeline ";
    if (barrier < shared || barrier + bytes > shared_end || (barrier - shared) % bytes)
      throw Finding("out of bounds: " + what + "at byte " + std::to_string(barrier - shared) + " of the " +
                    std::to_string(accesses.size()) +
                    " bytes of shared memory that the CTA was launched with; it takes 8, at a multiple of 8");
    stages.erase(barrier);
    for (char* p = barrier; p < barrier + bytes; ++p) {
      Accesses& byte = at(p);
      byte.is_barrier = is_barrier;
      Accesses::Result const result = byte.write(order, thread, false);
      if (result.verdict == Accesses::Verdict::fine) continue;
      throw Finding("race: " + what + "of the memory of " + element(p) + ", which " +
                    (result.other < 0 ? "an asynchronous copy accesses"
                                      : "instance " + instance_text(id, result.other) + " " + result.did) +
                    ", and no barrier lies between the two");
    }
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

  struct Meeting {
    int expected = 0;
    std::vector<int> arrived;
    Order::Set passed = Order::kNone;  ///< the arrivals of the time before
  };

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
  std::map<uint64_t, Meeting> meetings;
  std::map<void const*, Stage> stages;
  char* shared;
  char* shared_end;

 private:
  /// A named barrier counts whoever arrives.
  /// @throws Finding when it would take an instance for one of those that others wait for
  void require_fit(Meeting const& meeting, int thread, int expected, int number) {
    auto const refuse = [&](std::string const& why) {
      char const* const op = ops[static_cast<size_t>(thread)];
      throw Finding(std::string("barrier misuse in ") + (op ? op : "the kernel's body") + ": instance " +
                    instance_text(id, thread) + " arrives at named barrier " + std::to_string(number) + why);
    };
    if (meeting.expected != expected)
      refuse(" of " + std::to_string(expected) + " instances, at which instance " +
             instance_text(id, meeting.arrived.front()) + " waits for " + std::to_string(meeting.expected));
    int const other = order.unordered(meeting.passed, thread);
    if (other >= 0)
      refuse(", at which instance " + instance_text(id, other) +
             " has met others, and no barrier lies between the two");
  }

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
