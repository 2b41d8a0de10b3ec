// Errors that the host entry throws. They cross TVM FFI by kind, and the Python loader registers a class of
// TileFoundry's family for each kind, so that the caller catches TypeError or ValueError as well.
//
//   throw_error(kArgumentValueError, "argument '", name, "': expected rank ", 3, ", got ", 2);
#pragma once

#include <tvm/ffi/error.h>

#include <sstream>
#include <string>

namespace tilefoundry::host {

inline constexpr const char* kArgumentTypeError = "tilefoundry.ArgumentTypeError";
inline constexpr const char* kArgumentValueError = "tilefoundry.ArgumentValueError";
inline constexpr const char* kLaunchError = "tilefoundry.LaunchError";
inline constexpr const char* kCheckingError = "tilefoundry.CheckingError";

/// Throws an error of `kind` whose message is `parts` streamed one after another. It carries no native stack:
/// what went wrong is an argument or the device, not this code.
template <class... Parts>
[[noreturn]] void throw_error(const char* kind, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw ::tvm::ffi::Error(kind, text.str(), "");
}

}  // namespace tilefoundry::host
