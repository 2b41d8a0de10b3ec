// The attention kernels that tests run: X(name, element type, head extent, causal). One of each element type
// and head extent; the compiler's own tests run every combination.
#pragma once

#define ATTENTION_KERNELS(X)                   \
  X(attention_f32_32, kF32, 32, false)         \
  X(attention_f16_128_causal, kF16, 128, true) \
  X(attention_bf16_64, kBF16, 64, false)       \
  X(attention_bf16_64_causal, kBF16, 64, true)
