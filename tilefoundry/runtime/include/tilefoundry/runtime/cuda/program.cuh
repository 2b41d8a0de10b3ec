// What the core headers ask of a target, for CUDA: ids, barriers, shuffles, shared memory, asynchronous
// copies.
#pragma once

#include <tilefoundry/runtime/core/numeric.h>

#include <cstdint>
#include <cstdio>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace target {

#if defined(__CUDA_ARCH__)
TILEFOUNDRY_DEVICE int cta_id() {
  return static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}
TILEFOUNDRY_DEVICE int cta_count() { return static_cast<int>(gridDim.x * gridDim.y * gridDim.z); }
TILEFOUNDRY_DEVICE int thread_id() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
TILEFOUNDRY_DEVICE int thread_count() { return static_cast<int>(blockDim.x * blockDim.y * blockDim.z); }
#else
// Layout helpers also compile for the host; only a running kernel has ids.
int cta_id();
int cta_count();
int thread_id();
int thread_count();
#endif

TILEFOUNDRY_DEVICE char* shared_base() {
  extern __shared__ __align__(1024) char tilefoundry_shared[];
  return tilefoundry_shared;
}

TILEFOUNDRY_DEVICE void barrier() { __syncthreads(); }
TILEFOUNDRY_DEVICE void warp_barrier(unsigned mask) { __syncwarp(mask); }
TILEFOUNDRY_DEVICE void named_barrier(int id, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

/// Before and after a barrier of the grid: global memory that was written plainly is read by TMA, and the
/// other way round (the async proxy again).
TILEFOUNDRY_DEVICE void publish_global() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

/// Joins all CTAs of a cooperative launch. `counters` are the number of CTAs that have arrived and the number
/// of barriers that are over, so that one pair serves any number of barriers. One thread of each CTA counts
/// for all, whose writes the CTA's own barriers order before and after.
TILEFOUNDRY_DEVICE void grid_barrier([[maybe_unused]] unsigned* counters) {
#if defined(__CUDA_ARCH__)
  static_assert(__CUDA_ARCH__ >= 700, "a grid barrier needs acquire and release, compute capability 7.0");
  publish_global();
  __syncthreads();
  if (thread_id() == 0) {
    unsigned before, arrived;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(before) : "l"(counters + 1) : "memory");
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(arrived) : "l"(counters) : "memory");
    if (arrived + 1 == static_cast<unsigned>(cta_count())) {
      asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(counters) : "memory");
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(counters + 1), "r"(before + 1) : "memory");
    } else {
      unsigned now;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counters + 1) : "memory");
      } while (now == before);
    }
  }
  __syncthreads();
  publish_global();
#endif
}

/// The value that the lane `distance` away (by exclusive or) passed; `members` are the lanes that take part.
template <class T>
TILEFOUNDRY_DEVICE T shuffle_xor(T value, int distance, unsigned members) {
  return __shfl_xor_sync(members, value, distance);
}

/// Among all lanes of a warp: of which lanes the answer is yes, whether of any, which lanes passed the same
/// value as this one, and the value that a lane passed.
TILEFOUNDRY_DEVICE unsigned warp_ballot(bool answer) { return __ballot_sync(0xffffffffu, answer); }
TILEFOUNDRY_DEVICE bool warp_any(bool answer) { return __any_sync(0xffffffffu, answer) != 0; }
TILEFOUNDRY_DEVICE unsigned warp_match([[maybe_unused]] int64_t value) {
#if defined(__CUDA_ARCH__)
  return __match_any_sync(0xffffffffu, static_cast<unsigned long long>(value));
#else
  return 0;
#endif
}
template <class T>
TILEFOUNDRY_DEVICE T warp_read(T value, int lane) {
  uint32_t words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
  for (uint32_t& word : words) word = __shfl_sync(0xffffffffu, word, lane);
  memcpy(&value, words, sizeof(T));
  return value;
}
TILEFOUNDRY_DEVICE int count_bits(unsigned bits) { return __popc(bits); }

/// Stops the launch: the message is printed, and whoever waits for the launch is told of a trap.
TILEFOUNDRY_DEVICE void abort_launch([[maybe_unused]] char const* message) {
#if defined(__CUDA_ARCH__)
  printf("%s\n", message);
  __trap();
#endif
}

/// Integer division by zero has no defined result on a GPU, as in torch.
TILEFOUNDRY_DEVICE void integer_division_by_zero() {}

/// An index that the program computed or was given leaves the axis that it selects from: the launch stops, as
/// by abort_launch. Out of line, so that the message costs nothing where it is not needed.
__device__ __noinline__ inline void index_out_of_range([[maybe_unused]] int64_t index,
                                                       [[maybe_unused]] int axis,
                                                       [[maybe_unused]] int64_t extent) {
#if defined(__CUDA_ARCH__)
  printf("index %lld is out of range for axis %d of extent %lld\n", static_cast<long long>(index), axis,
         static_cast<long long>(extent));
  __trap();
#endif
}
__device__ __noinline__ inline void range_out_of_bounds([[maybe_unused]] int64_t first,
                                                        [[maybe_unused]] int64_t count,
                                                        [[maybe_unused]] int axis,
                                                        [[maybe_unused]] int64_t extent) {
#if defined(__CUDA_ARCH__)
  printf("%lld positions from %lld on exceed axis %d of extent %lld\n", static_cast<long long>(count),
         static_cast<long long>(first), axis, static_cast<long long>(extent));
  __trap();
#endif
}

/// Lanes that work in step and exchange values at little cost, and how many warps keep a GPU busy.
inline constexpr int kWarpLanes = 32;
inline constexpr int64_t kBusyWarps = 512;

/// *p += value, at once for all threads of the device. f16 and bf16 round after each addition.
template <class T>
TILEFOUNDRY_DEVICE void atomic_add(T* p, T value) {
  if constexpr (std::is_same<T, cute::half_t>::value) {
    atomicAdd(reinterpret_cast<__half*>(p), detail::bit_cast<__half>(value));
  } else if constexpr (std::is_same<T, cute::bfloat16_t>::value) {
    atomicAdd(reinterpret_cast<__nv_bfloat16*>(p), detail::bit_cast<__nv_bfloat16>(value));
  } else if constexpr (std::is_same<T, int64_t>::value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(value));
  } else {
    static_assert(
        std::is_same<T, float>::value || std::is_same<T, double>::value || std::is_same<T, int32_t>::value,
        "ops::scatter_add: a GPU adds f16, bf16, f32, f64, i32 and i64 in memory");
    atomicAdd(p, value);
  }
}

/// 2^x, zero where that is below the normal numbers: without the steps that scale these, one instruction.
TILEFOUNDRY_DEVICE float exp2_ftz(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TILEFOUNDRY_DEVICE double exp2_ftz(double x) { return x < -1022.0 ? 0.0 : std::exp2(x); }

TILEFOUNDRY_DEVICE float max_nan(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : a < b ? b : a;
#endif
}

TILEFOUNDRY_DEVICE float min_nan(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : b < a ? b : a;
#endif
}

TILEFOUNDRY_DEVICE uint32_t shared_address(void const* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// Before a barrier: what this thread wrote to shared memory may be read after it by wgmma and bulk copies,
/// which take another path to memory (the async proxy).
TILEFOUNDRY_DEVICE void publish_shared() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Registers of each thread of the warpgroup from here on.
template <int N>
TILEFOUNDRY_DEVICE void give_up_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
template <int N>
TILEFOUNDRY_DEVICE void claim_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

/// Copies `valid` of `Bytes` bytes to shared memory and zeroes the rest; both addresses are multiples of
/// `Bytes`.
template <int Bytes>
TILEFOUNDRY_DEVICE void async_copy(void* dst, void const* src, int valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // 16-byte copies bypass L1 (cg), which the others cannot.
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(dst)), "l"(src),
                 "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(dst)), "l"(src),
                 "n"(Bytes), "r"(valid)
                 : "memory");
  }
#else
  for (int i = 0; i < Bytes; ++i) {
    static_cast<char*>(dst)[i] = i < valid ? static_cast<char const*>(src)[i] : char(0);
  }
#endif
}

TILEFOUNDRY_DEVICE void async_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int Pending>
TILEFOUNDRY_DEVICE void async_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// What the instance has copied is there for those who wait for the barrier at which it arrives next.
TILEFOUNDRY_DEVICE void async_deliver(char const* /*barrier*/) {
  async_commit();
  async_wait<0>();
  publish_shared();
}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
