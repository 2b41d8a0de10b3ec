// Barriers in shared memory (mbarrier), bulk tensor copies (TMA, sm_90 on) and clusters.
#pragma once

#include <tilefoundry/runtime/core/bulk_box.h>

#include <tilefoundry/runtime/cuda/program.cuh>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

TILEFOUNDRY_HOST_DEVICE constexpr bool bulk_copies_available() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return true;
#else
  return false;
#endif
}

/// A barrier of `arrivals` in 8 bytes of shared memory. After all are made: mbarriers_made(), and a barrier
/// of the CTA or cluster.
TILEFOUNDRY_DEVICE void mbarrier_init(char* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// The memory may serve something else.
TILEFOUNDRY_DEVICE void mbarrier_end(char* barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

TILEFOUNDRY_DEVICE void mbarriers_made() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

TILEFOUNDRY_DEVICE void mbarrier_arrive(char* barrier) {
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(shared_address(barrier))
      : "memory");
}

/// Arrives at the barrier that lies in the same place in another CTA of the cluster. Releases within the CTA:
/// what consumers do is read, and a release to the cluster costs a fence of the whole GPU.
TILEFOUNDRY_DEVICE void mbarrier_arrive_at([[maybe_unused]] char* barrier, [[maybe_unused]] int rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
#endif
}

/// The current phase also ends no sooner than `bytes` of bulk copies have arrived.
TILEFOUNDRY_DEVICE void mbarrier_expect(char* barrier, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
#endif
}

/// Waits until the phase of this parity has ended.
TILEFOUNDRY_DEVICE void mbarrier_wait(char* barrier, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// The CTA's place in its cluster, and a barrier of all instances of the cluster.
TILEFOUNDRY_DEVICE int cluster_rank() {
  unsigned rank = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return static_cast<int>(rank);
}

TILEFOUNDRY_DEVICE void cluster_barrier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// The instruction of each rank. Its operands: memory, map, five coordinates (innermost first, as bulk copies
// want them), and what follows.
#define TILEFOUNDRY_BULK(dim, coordinates, before, after, ...)                                            \
  asm volatile("cp.async.bulk.tensor." dim before "[%1, {" coordinates "}]" after::"r"(memory), "l"(map), \
               "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), __VA_ARGS__                         \
               : "memory")
#define TILEFOUNDRY_BULK_RANKS(before, after, ...)                           \
  if constexpr (Rank == 1) {                                                 \
    TILEFOUNDRY_BULK("1", "%2", before, after, __VA_ARGS__);                 \
  } else if constexpr (Rank == 2) {                                          \
    TILEFOUNDRY_BULK("2", "%2, %3", before, after, __VA_ARGS__);             \
  } else if constexpr (Rank == 3) {                                          \
    TILEFOUNDRY_BULK("3", "%2, %3, %4", before, after, __VA_ARGS__);         \
  } else if constexpr (Rank == 4) {                                          \
    TILEFOUNDRY_BULK("4", "%2, %3, %4, %5", before, after, __VA_ARGS__);     \
  } else {                                                                   \
    static_assert(Rank == 5, "bulk copies have at most five axes");          \
    TILEFOUNDRY_BULK("5", "%2, %3, %4, %5, %6", before, after, __VA_ARGS__); \
  }

template <int Rank>
struct BulkCoordinates {
  int value[kBulkRank];
  TILEFOUNDRY_DEVICE explicit BulkCoordinates(int const (&at)[Rank]) {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < kBulkRank; ++i) value[i] = i < Rank ? at[Rank - 1 - i] : 0;
  }
};

/// Starts a copy of the map's box at `at` (innermost axis last) to shared memory; its bytes arrive at
/// `barrier`. Elements outside the tensor arrive as zeros.
template <int Rank>
TILEFOUNDRY_DEVICE void bulk_load([[maybe_unused]] TensorMap const* map, [[maybe_unused]] void* dst,
                                  [[maybe_unused]] char* barrier, [[maybe_unused]] int const (&at)[Rank]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  auto const& c = BulkCoordinates<Rank>(at).value;
  unsigned const memory = shared_address(dst);
  TILEFOUNDRY_BULK_RANKS("d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], ", ", [%7];",
                         "r"(shared_address(barrier)))
#endif
}

/// The same to the same place in every CTA of the cluster that `mask` names; each has its bytes counted at
/// its own barrier.
template <int Rank>
TILEFOUNDRY_DEVICE void bulk_load_multicast([[maybe_unused]] TensorMap const* map, [[maybe_unused]] void* dst,
                                            [[maybe_unused]] char* barrier,
                                            [[maybe_unused]] int const (&at)[Rank],
                                            [[maybe_unused]] uint16_t mask) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  auto const& c = BulkCoordinates<Rank>(at).value;
  unsigned const memory = shared_address(dst);
  TILEFOUNDRY_BULK_RANKS("d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], ",
                         ", [%7], %8;", "r"(shared_address(barrier)), "h"(mask))
#endif
}

/// Starts a copy from shared memory to the map's box at `at`; elements outside the tensor are left out.
template <int Rank>
TILEFOUNDRY_DEVICE void bulk_store([[maybe_unused]] TensorMap const* map, [[maybe_unused]] void const* src,
                                   [[maybe_unused]] int const (&at)[Rank]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  auto const& c = BulkCoordinates<Rank>(at).value;
  unsigned const memory = shared_address(src);
  TILEFOUNDRY_BULK_RANKS("d.global.shared::cta.bulk_group ", ", [%0];", "r"(0))
#endif
}

#undef TILEFOUNDRY_BULK_RANKS
#undef TILEFOUNDRY_BULK

/// Closes the group of the stores since the last commit.
TILEFOUNDRY_DEVICE void bulk_store_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `Pending` groups of the instance still read shared memory.
template <int Pending>
TILEFOUNDRY_DEVICE void bulk_store_wait_read() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#endif
}

/// Waits until at most `Pending` groups of the instance are not complete in global memory.
template <int Pending>
TILEFOUNDRY_DEVICE void bulk_store_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
