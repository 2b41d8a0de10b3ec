// What the core headers ask of a target, for the CPU: ids, barriers, shuffles, shared memory, copies.
#pragma once

#include <tilefoundry/runtime/cpu/cta.h>

#include <cstring>
#include <stdexcept>

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

inline void barrier() {
  if (Cta* cta = collective()) cta->barrier();
}
inline void warp_barrier(unsigned mask) {
  if (Cta* cta = collective()) cta->warp_barrier(mask);
}
inline void named_barrier(int id, int count) {
  if (Cta* cta = collective()) cta->named_barrier(id, count);
}

/// Barriers of the grid are the runtime's own here: the counters are those of a GPU.
inline void grid_barrier(unsigned* /*counters*/) {
  if (instance().fibres == nullptr) throw std::logic_error("a grid barrier outside of a resident launch");
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

inline float max_nan(float a, float b) { return a != a ? a : b != b ? b : a < b ? b : a; }
inline float min_nan(float a, float b) { return a != a ? a : b != b ? b : b < a ? b : a; }

/// Copies `valid` of `Bytes` bytes and zeroes the rest.
template <int Bytes>
inline void async_copy(void* dst, void const* src, int valid) {
  std::memcpy(dst, src, static_cast<size_t>(valid));
  std::memset(static_cast<char*>(dst) + valid, 0, static_cast<size_t>(Bytes - valid));
}
inline void async_commit() {}
template <int Pending>
inline void async_wait() {}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
