// Pipeline: staged movement of tiles into shared memory, by all instances of a CTA.
#pragma once

#include <tilefoundry/runtime/core/program.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// For each tile: acquire(), tile_load(...) one or more times, commit(); later wait<Pending>(), read,
/// release(). All instances of the CTA make the same calls. At most `Stages` tiles are in flight or being
/// read.
template <int Stages>
class Pipeline {
  static_assert(Stages >= 1, "Pipeline: at least one stage");

 public:
  /// Before loading into a stage: no instance still reads it afterwards.
  TILEFOUNDRY_DEVICE void acquire() {
    if (released_) {
      target::barrier();
      released_ = false;
    }
  }

  /// Closes the group of the loads since the last commit.
  TILEFOUNDRY_DEVICE void commit() { target::async_commit(); }

  /// Returns when at most `Pending` committed groups have not arrived; the others are visible to every
  /// instance.
  template <int Pending>
  TILEFOUNDRY_DEVICE void wait() {
    static_assert(Pending >= 0 && Pending < Stages, "Pipeline: wait<Pending> needs 0 <= Pending < Stages");
    target::async_wait<Pending>();
    target::publish_shared();
    target::barrier();
    released_ = false;
  }

  /// The instance has finished reading the oldest stage.
  TILEFOUNDRY_DEVICE void release() { released_ = true; }

  /// All loads have arrived and all reads are over: the shared memory may serve something else.
  TILEFOUNDRY_DEVICE void drain() {
    target::async_wait<0>();
    target::publish_shared();
    target::barrier();
    released_ = false;
  }

 private:
  bool released_ = false;  // whether a read may be unfinished in another instance since the last barrier
};

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
