// Pipeline: staged movement of tiles into shared memory, by all instances of a CTA or from one slice of them
// to another.
#pragma once

#include <tilefoundry/runtime/core/slice.h>
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/bulk.cuh>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// For each tile: acquire(), tile_load(...) one or more times, commit(); later wait<Pending>(), read,
/// release(). All instances of the CTA make the same calls. At most `Stages` tiles are in flight or being
/// read.
template <int Stages, class Producer = void, class Consumer = void, int Cluster = 1>
class Pipeline;

template <int Stages>
class Pipeline<Stages, void, void, 1> {
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

namespace detail {

/// One instance of a warp arrives for all, whose reads and writes the warp's barrier orders before. The
/// racecheck of compute-sanitizer follows no more than what the arriving instance itself did, and reports the
/// others' accesses: code that is compiled for it defines TILEFOUNDRY_RACECHECK, and then every instance
/// arrives.
#if defined(TILEFOUNDRY_RACECHECK)
inline constexpr bool kEveryInstanceArrives = true;
#else
inline constexpr bool kEveryInstanceArrives = false;
#endif

/// Arrivals of a slice at a barrier of a pipeline.
template <class Slice>
TILEFOUNDRY_HOST_DEVICE constexpr int pipeline_arrivals() {
  return kEveryInstanceArrives ? Slice::count : Slice::warps;
}

/// Whether the CTA has all instances of a slice, as far as its size is known.
template <class Slice>
TILEFOUNDRY_HOST_DEVICE constexpr bool slice_exists() {
  constexpr int threads = static_program_dim<kThreadLevel<Slice>>();
  return threads == 0 || Slice::first + Slice::count <= threads;
}

/// A place in a ring of stages; the parity of its phase changes with every round.
template <int Stages>
struct RingPosition {
  int stage = 0;
  unsigned phase = 0;
  TILEFOUNDRY_DEVICE void next() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1u;
    }
  }
};

}  // namespace detail

/// The same from the instances of `Producer` to those of `Consumer` (ThreadSlice; they may overlap), each at
/// its own pace. For each tile the producers call acquire(), tile_load(...) into stage loading(), commit();
/// the consumers wait(), read stage reading(), and release(), for the oldest tile that they have not
/// released.
///
///   Pipeline<4, ThreadSlice<0, 32>, ThreadSlice<128, 256>> pipe(cta_shared() + kTileBytes);
///
/// @tparam Cluster CTAs of the cluster (consecutive ids) that run the same sequence of stages, so that
///   tile_load may bring a tile to all of them. 1 where there are no clusters.
template <int Stages, class Producer, class Consumer, int Cluster>
class Pipeline {
  static_assert(Stages >= 1, "Pipeline: at least one stage");
  static_assert(Cluster >= 1 && Cluster <= 16, "Pipeline: a cluster has 1 to 16 CTAs");

 public:
  /// CTAs that tile_load reaches.
  static constexpr int kCluster = target::bulk_copies_available() ? Cluster : 1;
  /// Shared memory that the pipeline takes, 8-byte aligned.
  static constexpr int kBytes = 16 * Stages;

  /// By all instances of the CTA. `memory` lies in the same place in every CTA of the cluster.
  TILEFOUNDRY_DEVICE explicit Pipeline(char* memory) : memory_(memory) {
    static_assert(detail::slice_exists<Producer>() && detail::slice_exists<Consumer>(),
                  "Pipeline: the producers or consumers exceed the CTA");
    if (target::thread_id() == 0) {
      for (int i = 0; i < Stages; ++i) {
        target::mbarrier_init(full(i), detail::pipeline_arrivals<Producer>());
        target::mbarrier_init(empty(i), detail::pipeline_arrivals<Consumer>() * kCluster);
      }
      target::mbarriers_made();
    }
    meet();
  }

  /// Producers: returns when the next stage may be filled, in every CTA of the cluster.
  TILEFOUNDRY_DEVICE void acquire() { target::mbarrier_wait(empty(filled_.stage), filled_.phase ^ 1u); }

  /// The stage that was acquired and not yet committed.
  TILEFOUNDRY_DEVICE int loading() const { return filled_.stage; }

  /// Producers: all loads of the stage have been started.
  TILEFOUNDRY_DEVICE void commit() {
    if (by_instances_) {
      target::async_deliver(full(filled_.stage));
      by_instances_ = false;
    }
    arrive<Producer>([&] { target::mbarrier_arrive(full(filled_.stage)); });
    filled_.next();
  }

  /// Consumers: returns when the next stage has arrived.
  TILEFOUNDRY_DEVICE void wait() {
    read_ = awaited_.stage;
    target::mbarrier_wait(full(awaited_.stage), awaited_.phase);
    awaited_.next();
  }

  /// The stage that the last wait() waited for.
  TILEFOUNDRY_DEVICE int reading() const { return read_; }

  /// Consumers: the instance has finished reading the oldest stage that it has not released.
  TILEFOUNDRY_DEVICE void release() {
    if constexpr (kCluster == 1) {
      arrive<Consumer>([&] { target::mbarrier_arrive(empty(released_.stage)); });
    } else {
      static_assert(Consumer::count >= 32, "Pipeline: the consumers of a cluster are whole warps");
      target::warp_barrier(0xffffffffu);
      if constexpr (detail::kEveryInstanceArrives) {
        for (int cta = 0; cta < kCluster; ++cta) target::mbarrier_arrive_at(empty(released_.stage), cta);
      } else {
        int const lane = Consumer::rank() % 32;
        if (lane < kCluster) target::mbarrier_arrive_at(empty(released_.stage), lane);
      }
    }
    released_.next();
  }

  /// By all instances of the CTA, once each of their stages is released: its memory may serve another
  /// pipeline, that of the tiles anything, and the CTA may end.
  TILEFOUNDRY_DEVICE void drain() {
    meet();
    if (target::thread_id() != 0) return;
    for (int i = 0; i < Stages; ++i) {
      target::mbarrier_end(full(i));
      target::mbarrier_end(empty(i));
    }
  }

  /// For tile_load: who starts bulk copies, where their bytes arrive, and that instances copy.
  TILEFOUNDRY_DEVICE bool starts_copies() const { return Producer::rank() == 0; }
  TILEFOUNDRY_DEVICE char* arrivals() const { return full(filled_.stage); }
  TILEFOUNDRY_DEVICE void copied_by_instances() { by_instances_ = true; }

 private:
  TILEFOUNDRY_DEVICE char* full(int stage) const { return memory_ + 8 * stage; }
  TILEFOUNDRY_DEVICE char* empty(int stage) const { return memory_ + 8 * (Stages + stage); }

  TILEFOUNDRY_DEVICE static void meet() {
    if constexpr (kCluster > 1) {
      target::cluster_barrier();
    } else {
      target::barrier();
    }
  }

  /// One arrival for each warp of a slice, once all its lanes are here.
  template <class Slice, class F>
  TILEFOUNDRY_DEVICE static void arrive(F const& f) {
    if constexpr (Slice::count > 1) target::warp_barrier(0xffffffffu);
    if (detail::kEveryInstanceArrives || Slice::rank() % 32 == 0) f();
  }

  char* memory_;
  detail::RingPosition<Stages> filled_, awaited_, released_;
  int read_ = 0;
  bool by_instances_ = false;
};

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
