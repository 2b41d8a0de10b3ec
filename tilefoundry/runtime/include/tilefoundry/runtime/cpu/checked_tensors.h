// Where tensors get their checked memory: arguments, shared tiles and fragments.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>
#include <tilefoundry/runtime/cpu/checked_registers.h>

namespace tilefoundry {

template <int Rank>
struct GlobalArg;

inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Names elements of a tensor whose storage begins at an address, by logical coordinates.
template <class T, class GL, class SL, class Swizzle>
struct Describe {
  using F = Fragment<GL, SL>;
  static constexpr int axes = F::axes;

  static std::string element(char const* first, char const* at) {
    int64_t bytes = at - first;
    if constexpr (Swizzle::num_bits != 0) {
      if (bytes >= 0) bytes = static_cast<int64_t>(Swizzle::apply(static_cast<uint64_t>(bytes)));
    }
    int64_t const offset = bytes / static_cast<int64_t>(sizeof(T));
    for (int i = 0; i < F::count; ++i) {
      if (static_cast<int64_t>(typename F::Offsets{}(i)) == offset)
        return coordinate(i, cute::make_seq<axes>{});
    }
    return " at element " + std::to_string(offset);
  }

  static std::string shape() { return shape(cute::make_seq<axes>{}); }

  static void mark(std::vector<bool>& owned) {
    for (int i = 0; i < F::count; ++i) {
      auto const at = static_cast<size_t>(typename F::Offsets{}(i)) * sizeof(T);
      size_t const first = Swizzle::num_bits != 0 ? static_cast<size_t>(Swizzle::apply(at)) : at;
      for (size_t byte = first; byte < first + sizeof(T); ++byte) owned[byte] = true;
    }
  }

 private:
  template <int... A>
  static std::string coordinate(int i, cute::seq<A...>) {
    auto const mesh = typename F::Traits::mesh_type{}.local_index();
    int64_t const values[] = {(static_cast<int64_t>(F::template origin<A>(mesh)) +
                               static_cast<int64_t>(decltype(F::template steps<A>()){}(i)))...,
                              0};
    return checked::tuple_text(values, axes);
  }
  template <int... A>
  static std::string shape(cute::seq<A...>) {
    int64_t const values[] = {F::template axis_extent<A>..., 0};
    return checked::tuple_text(values, axes);
  }
};

template <class T, class GL, class SL, class Swizzle = cute::Swizzle<0, 4, 3>>
checked::Description describe() {
  using D = Describe<T, GL, SL, Swizzle>;
  constexpr bool has_gaps = decltype(cute::cosize(typename D::F::Offsets{}))::value > D::F::count;
  return {D::element, D::shape, has_gaps ? D::mark : nullptr};
}

/// The memory of a kernel argument.
template <class T, int Rank>
CheckedPointer<T> checked_argument(GlobalArg<Rank> const& arg) {
  checked::Call* const call = checked::Call::current();
  int64_t const *shape = nullptr, *strides = nullptr;
  if constexpr (Rank > 0) {
    shape = arg.shape;
    strides = arg.stride;
  }
  return {static_cast<T*>(arg.data),
          call ? call->memory(arg.data, static_cast<int>(sizeof(T)), Rank, shape, strides) : nullptr};
}

/// The memory of a tile in shared memory.
template <class T, class Logical, class SL, class Swizzle, int Bytes>
CheckedPointer<T> checked_tile(char* base, char const* name) {
  checked::Cta* const cta = target::here().cta;
  return {reinterpret_cast<T*>(base),
          cta ? cta->tile(base, Bytes, name, describe<T, Logical, SL, Swizzle>()) : nullptr};
}

/// A bulk copy reads the whole of a tile by one instance, whatever share each of them copies here.
/// @tparam InFlight until the instance has waited for it
template <bool InFlight, class T>
void read_by_bulk_copy(T const& tile) {
  checked::Here const self = target::here();
  auto const all = elements(tile);
  for (int i = 0; i < FragmentOf<T>::count; ++i) {
    auto const p = &all(i);
    char const* const at = reinterpret_cast<char const*>(p.unchecked());
    constexpr int bytes = sizeof(typename T::value_type);
    if (!p.memory()) return;
    InFlight ? p.memory()->store_from(self, at, bytes) : p.memory()->read(self, at, bytes);
  }
  if (InFlight && self.cta) self.cta->stores[static_cast<size_t>(self.thread)].close_group();
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
