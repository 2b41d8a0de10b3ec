// Who runs: the instance that program_id and program_dim answer for, and what its failures say.
#pragma once

#include <tilefoundry/runtime/core/config.h>
#if defined(TILEFOUNDRY_CHECKED)
#include <tilefoundry/runtime/cpu/checked_cta.h>
#endif

#include <exception>
#include <stdexcept>
#include <string>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

class Cta;

/// Who runs: what program_id and program_dim answer. Outside a launch, the only instance of one.
struct Instance {
  int cta = 0;
  int ctas = 1;
  int thread = 0;
  int threads = 1;
  char* shared = nullptr;
  Cta* fibres = nullptr;  ///< null when instances run one after the other
#if defined(TILEFOUNDRY_CHECKED)
  checked::Cta* checks = nullptr;
#endif
};

inline thread_local Instance const kOutside{};
inline thread_local Instance const* current = nullptr;

inline Instance const& instance() { return current ? *current : kOutside; }

/// A failed instance, told by its coordinates.
inline std::runtime_error located(Instance const& at, std::string const& what) {
  return std::runtime_error("instance (cta " + std::to_string(at.cta) + ", thread " +
                            std::to_string(at.thread) + "): " + what);
}

#if defined(TILEFOUNDRY_CHECKED)
using DivergenceError = checked::Finding;
#else
using DivergenceError = std::runtime_error;
#endif

inline std::exception_ptr located_current_exception(Instance const& at) {
  try {
    throw;
#if defined(TILEFOUNDRY_CHECKED)
  } catch (checked::Finding const&) {
    return std::current_exception();  // which names its instances
#endif
  } catch (std::exception const& error) {
    return std::make_exception_ptr(located(at, error.what()));
  } catch (...) {
    return std::make_exception_ptr(located(at, "an exception that is not a std::exception"));
  }
}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
