// Register fragments in checking mode: every element knows whether it has been written.
#pragma once

#include <tilefoundry/runtime/cpu/checked_pointer.h>

#include <algorithm>
#include <cstring>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The registers of one instance, which no other can reach.
class Registers : public checked::Memory {
 public:
  char const* name = nullptr;
  checked::Description description;

  void place(char const* first, bool* written, int item, int count) {
    first_ = first;
    written_ = written;
    item_ = item;
    count_ = count;
  }

  void read(checked::Here here, char const* at, int /*bytes*/) override {
    if (!written_[index(here, at, "reads")]) uninitialised(here, at);
  }
  void write(checked::Here here, char* at, void const* /*value*/, int /*bytes*/,
             checked::Write /*kind*/) override {
    written_[index(here, at, "writes")] = true;
  }
  std::string element(char const* at) const override {
    return checked::quoted(name, "a register fragment") +
           (description.element ? description.element(first_, at) : std::string());
  }
  std::string shape() const override { return description.shape ? description.shape() : std::string(); }

 private:
  std::ptrdiff_t index(checked::Here here, char const* at, char const* does) const {
    std::ptrdiff_t const i = (at - first_) / item_;
    if (at < first_ || i >= count_) out_of_bounds(here, at, does);
    return i;
  }

  char const* first_ = nullptr;
  bool* written_ = nullptr;
  int item_ = 1;
  int count_ = 0;
};

/// Registers of one instance; fresh ones are NaN in every float format.
template <class T, int N>
struct RegisterEngine {
  using iterator = CheckedPointer<T>;
  using reference = CheckedReference<T>;
  using element_type = T;
  using value_type = T;
  alignas(16) T storage[N];
  mutable bool written[N] = {};
  mutable Registers memory;

  RegisterEngine() { std::memset(static_cast<void*>(storage), 0xff, sizeof storage); }

  // A copy is memory of its own, so that pointers are made where the fragment has come to lie.
  CheckedPointer<T> begin() { return {storage, placed()}; }
  CheckedPointer<T const> begin() const { return {storage, placed()}; }

 private:
  checked::Memory* placed() const {
    memory.place(reinterpret_cast<char const*>(storage), written, static_cast<int>(sizeof(T)), N);
    return &memory;
  }
};

}  // namespace detail

/// A rank-0 tensor in registers: a value of one instance.
template <class T>
class RegisterScalar {
 public:
  explicit RegisterScalar(char const* name) { engine_.memory.name = name; }

  /// @throws checked::Finding when nobody has assigned it
  T value() const { return *engine_.begin(); }
  void operator=(T value) { *engine_.begin() = value; }

 private:
  detail::RegisterEngine<T, 1> engine_;
};

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
