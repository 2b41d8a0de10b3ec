// A tile in the shared memory of a CTA in checking mode: who wrote which of its elements, and what may read
// them.
#pragma once

#include <tilefoundry/runtime/cpu/checked_memory.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace tilefoundry {
namespace checked {

/// How the elements of a tile or fragment are called: only where it is made are its layouts known.
struct Description {
  std::string (*element)(char const* first, char const* at) = nullptr;
  std::string (*shape)() = nullptr;
  /// Marks the bytes that elements have, of those from the first to the last; null when these are all.
  void (*mark)(std::vector<bool>& owned) = nullptr;
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
        tiles_(tiles) {
    if (!description.mark) return;
    owned_.resize(static_cast<size_t>(bytes));
    description.mark(owned_);
  }

  bool is(char const* first, int bytes, char const* name, Description const& description) const {
    return first == first_ && bytes == bytes_ && name == name_ && description.element == description_.element;
  }

  void read(Here here, char const* at, int bytes) override {
    inside(here, at, bytes, "reads");
    for (int i = 0; i < bytes; ++i) {
      if (cell(at + i).is_barrier) barrier_memory(here, at, "reads");
      Accesses::Result const result = cell(at + i).read(*here.order, here.thread);
      if (result.verdict != Accesses::Verdict::fine) refuse(here, at, result, "reads");
    }
  }

  void write(Here here, char* at, void const* value, int bytes, Write kind) override {
    inside(here, at, bytes, "writes");
    bool const same = std::memcmp(at, value, static_cast<size_t>(bytes)) == 0;
    for (int i = 0; i < bytes; ++i) {
      Accesses& byte = cell(at + i);
      if (byte.is_barrier) barrier_memory(here, at, "writes");
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
    bool const in_gap = !owned_.empty() && inside(at, bytes) && !owned_[static_cast<size_t>(at - first_)];
    if (in_gap || !inside(at, bytes)) out_of_bounds(here, at, does);
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

  // Of the CTA that the tile is in: defined with it, in checked_cta.h.
  static bool is_engine(Here here, int instance);
  void remember(Here here, char const* at, int bytes);
  void remember_store(Here here, char const* at, int bytes);

  char* first_;
  int bytes_;
  char const* name_;
  Description description_;
  std::vector<bool> owned_;  ///< empty: all of it
  char* shared_;
  std::vector<Accesses>& accesses_;
  std::deque<Tile> const& tiles_;  ///< of the CTA
};

}  // namespace checked
}  // namespace tilefoundry
