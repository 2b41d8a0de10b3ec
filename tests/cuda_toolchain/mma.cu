// CuTe's tensor core atoms: one that sm_80 has, and the warpgroup synchronisation that sm_90a alone has.

#include <cuda_runtime.h>

#include <cstdint>
#include <cute/arch/mma_sm80.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>

extern "C" __global__ void warp_mma(const uint32_t* a, const uint32_t* b, float* c) {
  using Atom = cute::SM80_16x8x16_F32BF16BF16F32_TN;
  float d[4] = {};
  Atom::fma(d[0], d[1], d[2], d[3], a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], c[2], c[3]);
  for (int i = 0; i < 4; ++i) c[i] = d[i];
}

extern "C" __global__ void warpgroup_sync() {
#if defined(CUTE_ARCH_MMA_SM90A_ENABLED)
  cute::warpgroup_arrive();
  cute::warpgroup_commit_batch();
  cute::warpgroup_wait<0>();
#endif
}
