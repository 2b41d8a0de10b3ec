// ops::sync: barriers of the instances of one CTA, or of all of a launch.
#pragma once

#include <tilefoundry/runtime/core/program.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

enum class SyncKind {
  cta,    ///< all instances of the CTA
  warp,   ///< the instances of Mask in each warp (0: all of it)
  named,  ///< instances Base .. Base + Count - 1, with barrier BarId
  grid,   ///< all instances of all CTAs, which must all be resident: the host launches them cooperatively
};

namespace ops {

/// Waits until every participant has arrived and sees what the others wrote before. All participants must
/// call it; other instances of the CTA pass through.
/// @tparam Base,Count participants of a named barrier: whole warps
/// @tparam Mask lanes of a warp barrier, 0 for all
/// @tparam BarId 1 to 15; two named barriers that overlap in time have different ids
/// @param grid_bar of a grid barrier: two words in global memory that were zero when the kernel started and
///   that no other launch in flight has
template <SyncKind Kind, int Base = 0, int Count = 0, unsigned Mask = 0u, int BarId = 0>
TILEFOUNDRY_DEVICE void sync([[maybe_unused]] unsigned int* grid_bar = nullptr) {
  if constexpr (Kind != SyncKind::warp) target::publish_shared();
  if constexpr (Kind == SyncKind::grid) {
    target::grid_barrier(grid_bar);
  } else if constexpr (Kind == SyncKind::cta) {
    constexpr int threads = detail::static_program_dim<detail::kThreadLevel<cute::C<Count>>>();
    static_assert(Base == 0 && (Count == 0 || Count == threads) && Mask == 0u,
                  "ops::sync: all instances of the CTA meet; a part of them does at a named barrier");
    target::barrier();
  } else if constexpr (Kind == SyncKind::warp) {
    unsigned const lane = static_cast<unsigned>(target::thread_id()) % 32u;
    if (Mask == 0u || (Mask >> lane & 1u)) target::warp_barrier(Mask == 0u ? 0xffffffffu : Mask);
  } else {
    static_assert(BarId >= 1 && BarId <= 15, "ops::sync: a named barrier has an id from 1 to 15");
    static_assert(Count > 0 && Count % 32 == 0 && Base >= 0 && Base % 32 == 0,
                  "ops::sync: a named barrier is met by whole warps: Base and Count are multiples of 32");
    constexpr int threads = detail::static_program_dim<detail::kThreadLevel<cute::C<Count>>>();
    static_assert(threads == 0 || Base + Count <= threads, "ops::sync: the participants exceed the CTA");
    int const thread = target::thread_id();
    if (thread >= Base && thread < Base + Count) target::named_barrier(BarId, Count);
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
