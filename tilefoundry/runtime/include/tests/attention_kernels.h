// The attention kernels that tests run: X(name, element type, head extent, causal).
#pragma once

#define ATTENTION_KERNELS_OF(X, type, suffix)       \
  X(attention_##suffix##_32, type, 32, false)       \
  X(attention_##suffix##_64, type, 64, false)       \
  X(attention_##suffix##_128, type, 128, false)     \
  X(attention_##suffix##_32_causal, type, 32, true) \
  X(attention_##suffix##_64_causal, type, 64, true) \
  X(attention_##suffix##_128_causal, type, 128, true)

#define ATTENTION_KERNELS(X)         \
  ATTENTION_KERNELS_OF(X, kF32, f32) \
  ATTENTION_KERNELS_OF(X, kF16, f16) \
  ATTENTION_KERNELS_OF(X, kBF16, bf16)
