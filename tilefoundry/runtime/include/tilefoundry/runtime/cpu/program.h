// What the core headers ask of a target, for the CPU: ids, barriers, shuffles, shared memory, copies.
#pragma once

#include <tilefoundry/runtime/core/numeric.h>
#include <tilefoundry/runtime/cpu/cta.h>
#if defined(TILEFOUNDRY_CHECKED)
#include <tilefoundry/runtime/cpu/checked_scope.h>
#endif

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

inline int cta_id() { return instance().cta; }
inline int cta_count() { return instance().ctas; }
inline int thread_id() { return instance().thread; }
inline int thread_count() { return instance().threads; }
inline char* shared_base() { return instance().shared; }

/// The fibres of the running CTA; null when it has a single instance, for which collectives are no-ops.
inline Cta* collective() {
  Instance const& self = instance();
  if (self.fibres == nullptr && self.threads > 1) {
    throw std::logic_error("a barrier or an exchange in a kernel that was launched as not collective");
  }
  return self.fibres;
}

enum class Meeting { cta, warp, named, grid };

/// Checking mode learns that the running instance arrives at a barrier of `expected` instances, or of the
/// lanes of `mask` that its warp has. (A shuffle orders no memory.)
inline void arrive([[maybe_unused]] Meeting kind, [[maybe_unused]] int id, [[maybe_unused]] unsigned mask,
                   [[maybe_unused]] int expected) {
#if defined(TILEFOUNDRY_CHECKED)
  checked::Here const self = here();
  if (kind == Meeting::warp) {
    int const rest = instance().threads - 32 * id;
    if (rest < 32) mask &= (1u << rest) - 1u;
    expected = __builtin_popcount(mask);
  }
  uint64_t const barrier = static_cast<uint64_t>(kind) << 48 | static_cast<uint64_t>(id) << 32 | mask;
  self.cta->arrive(barrier, self.thread, expected, kind == Meeting::named ? id : -1);
#endif
}

inline void barrier() {
  if (Cta* cta = collective()) {
    arrive(Meeting::cta, 0, 0, instance().threads);
    cta->barrier();
  }
}
inline void warp_barrier(unsigned mask) {
  if (Cta* cta = collective()) {
    arrive(Meeting::warp, instance().thread / 32, mask, 32);
    cta->warp_barrier(mask);
  }
}
inline void named_barrier(int id, int count) {
  if (Cta* cta = collective()) {
    arrive(Meeting::named, id, 0, count);
    cta->named_barrier(id, count);
  }
}

/// Barriers of the grid are the runtime's own here: the counters are those of a GPU.
inline void grid_barrier(unsigned* /*counters*/) {
  if (instance().fibres == nullptr) throw std::logic_error("a grid barrier outside of a resident launch");
  arrive(Meeting::grid, 0, 0, instance().threads);
  instance().fibres->grid_barrier();
}

template <class T>
inline T shuffle_xor(T value, int distance, unsigned /*members: the CTA knows its own*/) {
  Cta* cta = collective();
  return cta ? cta->shuffle_xor(value, distance) : value;
}

inline void publish_shared() {}

/// Stops the launch with an error.
[[noreturn]] inline void abort_launch(char const* message) { throw std::runtime_error(message); }

inline void integer_division_by_zero() { throw std::domain_error("integer division by zero"); }

/// An index that the program computed or was given leaves the axis that it selects from.
[[noreturn]] inline void index_out_of_range(int64_t index, int axis, int64_t extent) {
  throw std::out_of_range("index " + std::to_string(index) + " is out of range for axis " +
                          std::to_string(axis) + " of extent " + std::to_string(extent));
}
[[noreturn]] inline void range_out_of_bounds(int64_t first, int64_t count, int axis, int64_t extent) {
  throw std::out_of_range(std::to_string(count) + " positions from " + std::to_string(first) +
                          " on exceed axis " + std::to_string(axis) + " of extent " + std::to_string(extent));
}

/// Instances that work in step: none, as exchanges between fibres cost more than they save (and how many keep
/// a CPU busy). What follows is named, never called.
inline constexpr int kWarpLanes = 1;
inline constexpr int64_t kBusyWarps = 8;
unsigned warp_ballot(bool);
bool warp_any(bool);
unsigned warp_match(int64_t);
template <class T>
T warp_read(T, int);
int count_bits(unsigned);

/// *p += value, at once for all threads. f16 and bf16 round after each addition.
template <class T>
void atomic_add(T* p, T value) {
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  Bits* const bits = reinterpret_cast<Bits*>(p);
  Bits before = __atomic_load_n(bits, __ATOMIC_RELAXED), after;
  do {
    T sum;
    std::memcpy(&sum, &before, sizeof sum);
    if constexpr (std::is_integral<T>::value) {
      after = static_cast<Bits>(before + static_cast<Bits>(value));
    } else {
      sum = convert<T>(detail::widen(sum) + detail::widen(value));
      std::memcpy(&after, &sum, sizeof after);
    }
  } while (!__atomic_compare_exchange_n(bits, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

inline float exp2_ftz(float x) { return x < -126.f ? 0.f : std::exp2(x); }
inline double exp2_ftz(double x) { return x < -1022.0 ? 0.0 : std::exp2(x); }

inline float max_nan(float a, float b) { return a != a ? a : b != b ? b : a < b ? b : a; }
inline float min_nan(float a, float b) { return a != a ? a : b != b ? b : b < a ? b : a; }

/// A CPU has no bulk copies (these are named, never called) and no clusters: each CTA is its own.
constexpr bool bulk_copies_available() { return false; }
inline int cluster_rank() { return 0; }
inline void cluster_barrier() { barrier(); }

inline void mbarrier_init(char* barrier, int arrivals) {
#if defined(TILEFOUNDRY_CHECKED)
  here().cta->set_stage(barrier, instance().thread, true);
#endif
  new (barrier) Mbarrier{arrivals};
}
inline void mbarrier_end([[maybe_unused]] char* barrier) {
#if defined(TILEFOUNDRY_CHECKED)
  here().cta->set_stage(barrier, instance().thread, false);
#endif
}
inline void mbarriers_made() {}
inline void mbarrier_arrive(char* barrier) {
  auto& self = *reinterpret_cast<Mbarrier*>(barrier);
#if defined(TILEFOUNDRY_CHECKED)
  here().cta->arrive_at_stage(barrier, instance().thread, self.missing == 1);
#endif
  if (Cta* cta = collective()) {
    cta->arrive(self);
  } else {
    self.arrive();
  }
}
inline void mbarrier_arrive_at(char* barrier, int) { mbarrier_arrive(barrier); }
inline void mbarrier_wait(char* barrier, unsigned parity) {
  auto const& self = *reinterpret_cast<Mbarrier*>(barrier);
  if (Cta* cta = collective()) {
    cta->wait(self, parity);
  } else if (!self.ended(parity)) {
    throw std::logic_error(
        "a pipeline of a single instance waits for a stage that it has not filled or freed");
  }
#if defined(TILEFOUNDRY_CHECKED)
  here().cta->pass_stage(barrier, instance().thread);
#endif
}

template <class... Any>
void mbarrier_expect(Any const&...);
template <class... Any>
void bulk_load(Any const&...);
template <class... Any>
void bulk_load_multicast(Any const&...);
template <class... Any>
void bulk_store(Any const&...);
void bulk_store_commit();
template <int Pending>
void bulk_store_wait();

template <int N>
inline void give_up_registers() {}
template <int N>
inline void claim_registers() {}

/// Copies `valid` of `Bytes` bytes and zeroes the rest.
template <int Bytes>
inline void async_copy(void* dst, void const* src, int valid) {
  std::memcpy(dst, src, static_cast<size_t>(valid));
  std::memset(static_cast<char*>(dst) + valid, 0, static_cast<size_t>(Bytes - valid));
}
inline void async_commit() {
#if defined(TILEFOUNDRY_CHECKED)
  if (checked::Here const self = here(); self.cta) self.cta->commit(self.thread);
#endif
}
template <int Pending>
inline void async_wait() {
#if defined(TILEFOUNDRY_CHECKED)
  if (checked::Here const self = here(); self.cta) self.cta->land(self.thread, Pending);
#endif
}

/// What the instance has copied is there for those who wait for the barrier at which it arrives next.
inline void async_deliver([[maybe_unused]] char const* barrier) {
#if defined(TILEFOUNDRY_CHECKED)
  if (checked::Here const self = here(); self.cta) self.cta->deliver(barrier, self.thread);
#endif
}

/// At most `Pending` of the asynchronous stores of the instance still read shared memory.
template <int Pending>
inline void bulk_store_wait_read() {
#if defined(TILEFOUNDRY_CHECKED)
  if (checked::Here const self = here(); self.cta) self.cta->end_stores(self.thread, Pending);
#endif
}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
