// Index arithmetic that rounds towards minus infinity, as the program's own // and % do.
#pragma once

#include <tilefoundry/runtime/core/functors.h>

#include <cstdint>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// The quotient a / b rounded down; b must not be 0.
TILEFOUNDRY_DEVICE int64_t floor_div(int64_t a, int64_t b) {
  detail::check_divisor(b);
  int64_t const quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// a - b * floor_div(a, b): in [0, b) for positive b.
TILEFOUNDRY_DEVICE int64_t floor_mod(int64_t a, int64_t b) { return a - b * floor_div(a, b); }

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
