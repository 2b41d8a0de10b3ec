// What a checked pointer asks of the memory that it points into; and the state of one element's accesses by
// the instances of a CTA.
#pragma once

#include <tilefoundry/runtime/cpu/checked_finding.h>
#include <tilefoundry/runtime/cpu/checked_order.h>

#include <cstddef>
#include <string>

namespace tilefoundry {
namespace checked {

struct Cta;

/// The instance that accesses memory, and in which op. Without a CTA, the host does, before or after
/// launches.
struct Here {
  Cta* cta = nullptr;
  int id = 0;  ///< of the CTA
  int thread = 0;
  Order* order = nullptr;  ///< of the CTA's instances
  char const* op = nullptr;

  /// "race in copy: instance (cta 0, thread 3)"
  std::string text(char const* kind) const {
    return std::string(kind) + " in " + (op ? op : "the kernel's body") + ": " +
           (cta ? "instance " + instance_text(id, thread) : "the host");
  }
};

enum class Write {
  plain,
  in_flight,  ///< asynchronous: over when the instance has waited for it
  atomic,     ///< an atomic addition, which others may make at the same time
};

/// A tensor's memory. An access throws a Finding unless all its bytes lie inside, have been written and are
/// ordered with the accesses of other instances.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Before `bytes` bytes are read.
  virtual void read(Here here, char const* at, int bytes) = 0;
  /// Before they become `value`.
  virtual void write(Here here, char* at, void const* value, int bytes, Write kind) = 0;
  /// An asynchronous copy from them starts, which nobody may write until it is over.
  virtual void hold(char const* /*at*/, int /*bytes*/) {}
  virtual void release(char const* /*at*/, int /*bytes*/) {}
  /// An asynchronous store reads `bytes` bytes from here on, until the instance has waited for it.
  virtual void store_from(Here here, char const* at, int bytes) { read(here, at, bytes); }
  /// How findings call the element at an address: "'x'(2, 3)".
  virtual std::string element(char const* at) const = 0;
  /// The shape of the tensor, as text.
  virtual std::string shape() const = 0;

 protected:
  [[noreturn]] void out_of_bounds(Here here, char const* at, char const* does) const {
    throw Finding(here.text("out of bounds") + " " + does + " " + element(at) +
                  ", which is outside of the shape " + shape());
  }
  [[noreturn]] void uninitialised(Here here, char const* at, char const* hint = "") const {
    throw Finding(here.text("uninitialised read") + " reads " + element(at) + ", which nobody has written" +
                  hint);
  }
  [[noreturn]] void in_flight(Here here, char const* at, char const* does) const {
    throw Finding(here.text("access to a load in flight") + " " + does + " " + element(at) +
                  ", whose asynchronous load has not been waited for");
  }
  [[noreturn]] void held(Here here, char const* at) const {
    throw Finding(here.text("access to a load in flight") + " writes " + element(at) +
                  ", which an asynchronous load reads that has not been waited for");
  }
  [[noreturn]] void stored(Here here, char const* at) const {
    throw Finding(here.text("access to a store in flight") + " writes " + element(at) +
                  ", which an asynchronous store reads that has not been waited for");
  }
  [[noreturn]] void barrier_memory(Here here, char const* at, char const* does) const {
    throw Finding(here.text("access to a barrier") + " " + does + " " + element(at) +
                  ", where a barrier of a pipeline lies");
  }
  /// @param with the other instance, and what it did
  [[noreturn]] void race(Here here, char const* at, char const* does, std::string const& with) const {
    throw Finding(here.text("race") + " " + does + " " + element(at) + ", which instance " + with +
                  ", and no barrier lies between the two");
  }
  [[noreturn]] void conflict(Here here, char const* at, std::string const& with) const {
    throw Finding(here.text("conflicting writes") + " writes " + element(at) + ", to which instance " + with +
                  " wrote another value, and no barrier lies between the two");
  }
};

/// Who of one CTA has accessed a byte of shared memory, or an element of global memory.
struct Accesses {
  Order::Set writers = Order::kNone;  ///< of the value that is there: several are replicas
  Order::Set readers = Order::kNone;
  Order::Set added_to = Order::kNone;  ///< of additions: who had written what they add to
  bool is_barrier = false;             ///< of a pipeline
  bool atomic = false;                 ///< the writers have added to what was there
  uint16_t flights = 0;  ///< asynchronous copies to it that nobody has waited for, replicas of one value
  uint16_t stores = 0;   ///< asynchronous stores of it that have not been waited for

  enum class Verdict { fine, uninitialised, in_flight, stored, race, conflict };
  struct Result {
    Verdict verdict = Verdict::fine;
    int other = -1;  ///< the other instance of a race or conflict
    char const* did = "writes";
  };

  Result read(Order& order, int thread) {
    // Of replicas one that has landed suffices.
    if (flights > 0 && !order.any_ordered(writers, thread)) return {Verdict::in_flight};
    if (writers == Order::kNone) return {Verdict::uninitialised};
    // Of replicas one suffices; of additions all count.
    if (order.live(writers) && (atomic || !order.any_before(writers, thread))) {
      int const writer = order.unordered(writers, thread);
      if (writer >= 0) return {Verdict::race, writer};
    }
    readers = order.with(readers, thread);
    return {};
  }

  /// @param same whether the value is the one that is there already
  Result write(Order& order, int thread, bool same) {
    if (flights > 0) return {Verdict::in_flight};
    Result const result = overwrite(order, thread, same);
    if (result.verdict == Verdict::fine) writers = order.with(writers, thread);
    return result;
  }

  /// An asynchronous copy to it starts.
  Result take_off(Order& order, int thread, bool same) {
    if (flights > 0 && !same) return {Verdict::in_flight};
    Result const result = overwrite(order, thread, same);
    if (result.verdict == Verdict::fine) ++flights;
    return result;
  }
  /// The instance has waited for its copy.
  void land(Order& order, int thread) {
    --flights;
    writers = order.with(writers, thread);
  }

  /// An atomic addition.
  Result add(Order& order, int thread) {
    if (flights > 0) return {Verdict::in_flight};
    if (stores > 0) return {Verdict::stored};
    if (writers == Order::kNone) return {Verdict::uninitialised};
    if (!atomic) added_to = writers;
    int const writer = order.unordered(added_to, thread);
    if (writer >= 0) return {Verdict::race, writer};
    int const reader = order.unordered(readers, thread);
    if (reader >= 0) return {Verdict::race, reader, "reads"};
    readers = Order::kNone;
    writers = order.with(atomic ? writers : Order::kNone, thread);
    atomic = true;
    return {};
  }

 private:
  /// Whether it may become a value; then only those writers are left of which the next one is a replica.
  Result overwrite(Order& order, int thread, bool same) {
    if (stores > 0) return {Verdict::stored};
    int const writer = order.unordered(writers, thread);
    if (writer >= 0 && (atomic || !same)) return {Verdict::conflict, writer};
    // Who reads its own replica of a value does not mind that others write theirs.
    int const reader =
        order.unordered(readers, thread, [&](int other) { return !(same && order.by(writers, other)); });
    if (reader >= 0) return {Verdict::race, reader, "reads"};
    if (writer < 0) readers = Order::kNone;
    if (writer < 0 && flights == 0) writers = Order::kNone;
    atomic = false;
    return {};
  }
};

}  // namespace checked
}  // namespace tilefoundry
