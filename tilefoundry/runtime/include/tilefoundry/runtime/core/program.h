// TopologyScope and the queries of the running program: program_shape, program_dim, program_id.
#pragma once

#include <tilefoundry/runtime/core/config.h>

#include <cute/layout.hpp>
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/program.cuh>
#else
#include <tilefoundry/runtime/cpu/program.h>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// A fixed enumeration of program topology levels, coarsest first.
enum class TopologyScope {
  cta,          ///< blockIdx, or the host loop over CTAs
  thread,       ///< threadIdx, or the fibre (plain loop) of one CTA
  scope_count,  ///< a sentinel
};

/// Shape of topology level T. A unit with a static level specialises this with a static shape; the primary
/// template is the launch-provided level.
template <TopologyScope T>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape() noexcept {
  static_assert(T == TopologyScope::cta || T == TopologyScope::thread, "program_shape: not a topology level");
  if constexpr (T == TopologyScope::cta) {
    return cute::Shape<int>{target::cta_count()};
  } else {
    return cute::Shape<int>{target::thread_count()};
  }
}

/// Size of topology level T: a cute::Int when static, the launch-provided extent otherwise.
template <TopologyScope T>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_dim() noexcept {
  return cute::size(program_shape<T>());
}

/// Linear id of the running instance at level T; always a run-time query.
template <TopologyScope T>
TILEFOUNDRY_HOST_DEVICE int program_id() noexcept {
  static_assert(T == TopologyScope::cta || T == TopologyScope::thread, "program_id: not a topology level");
  if constexpr (T == TopologyScope::cta) {
    return target::cta_id();
  } else {
    return target::thread_id();
  }
}

namespace detail {

/// A level where a template asks for its size. A unit specialises program_shape after these headers, so the
/// question must not be answered before a template is instantiated: it depends on `Dependent`.
template <class Dependent>
inline constexpr TopologyScope kThreadLevel = TopologyScope::thread;
template <class Dependent>
inline constexpr TopologyScope kCtaLevel = TopologyScope::cta;

/// The static size of level T, or 0 when the launch provides it.
template <TopologyScope T>
TILEFOUNDRY_HOST_DEVICE constexpr int static_program_dim() {
  using Dim = decltype(program_dim<T>());
  if constexpr (cute::is_static<Dim>::value) {
    return Dim::value;
  } else {
    return 0;
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
