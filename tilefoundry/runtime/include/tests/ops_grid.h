// Golden: what a barrier of the grid orders, between CTAs and within them.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 40;
constexpr bool kResident = true;

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
  constexpr int size = kGrid * kThreads, rounds = 20;
  auto* const counters = static_cast<unsigned*>(args.scratch.data);
  int* const values = static_cast<int*>(args.scratch.data) + 64;
  int* const shared = reinterpret_cast<int*>(cta_shared());
  int const me = instance(), t = program_id<kThread>();
  int right = 0;
  for (int n = 0; n < rounds; ++n) {
    values[me] = 100000 * n + me;
    shared[t] = n + t;
    ops::sync<SyncKind::grid>(counters);
    int const other = (me + 17 * n + 1) % size;
    right += values[other] == 100000 * n + other;
    right += shared[kThreads - 1 - t] == n + kThreads - 1 - t;
    ops::sync<SyncKind::cta>();
    ops::sync<SyncKind::grid>(counters);
  }
  record.check(static_cast<float>(right), 2 * rounds);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
