// How instances divide the elements of an op on memory.
#pragma once

#include <tilefoundry/runtime/core/program.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Which elements of an op on memory are the running instance's: first, first + step, ...
struct Share {
  int64_t first;
  int64_t step;
};

/// The instances of a CTA share the elements. (Templates, because they ask for the size of a level.)
template <class Dependent = void>
TILEFOUNDRY_DEVICE Share share_of_cta() {
  constexpr auto thread = detail::kThreadLevel<Dependent>;
  return {program_id<thread>(), static_cast<int64_t>(program_dim<thread>())};
}

/// The instances of all CTAs share them.
template <class Dependent = void>
TILEFOUNDRY_DEVICE Share share_of_grid() {
  constexpr auto cta = detail::kCtaLevel<Dependent>;
  Share const own = share_of_cta<Dependent>();
  return {program_id<cta>() * own.step + own.first, static_cast<int64_t>(program_dim<cta>()) * own.step};
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
