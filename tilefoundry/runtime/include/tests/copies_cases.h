// What the kernel of copies_body.h copies, for it and for those who check what it records.
//
// X(element type, how instances share it, rows, columns, elements from row to row in global memory and in the
// tile, elements from a 16-byte boundary to the first one, whether every row of the global tensor starts at
// such a boundary)
#pragma once

#define COPY_CASES(X)                               \
  X(float, Blocks, 16, 64, 64, 68, 0, true)         \
  X(float, Blocks, 32, 48, 52, 48, 0, true)         \
  X(float, Blocks, 16, 40, 44, 41, 0, true)         \
  X(float, Blocks, 16, 64, 65, 64, 0, false)        \
  X(float, Blocks, 16, 64, 68, 68, 1, true)         \
  X(float, Blocks, 16, 64, 68, 68, 2, true)         \
  X(float, Blocks, 16, 64, 68, 68, 3, true)         \
  X(double, Blocks, 16, 32, 34, 34, 0, true)        \
  X(double, Blocks, 16, 32, 34, 34, 1, true)        \
  X(double, Blocks, 16, 24, 26, 25, 0, true)        \
  X(int64_t, Rows, 128, 3, 4, 3, 0, true)           \
  X(int64_t, Blocks, 16, 32, 33, 32, 1, false)      \
  X(half_t, Blocks, 16, 64, 72, 72, 0, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 1, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 2, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 3, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 4, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 5, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 6, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 7, true)        \
  X(half_t, Blocks, 16, 64, 72, 72, 0, false)       \
  X(bfloat16_t, Rows, 128, 7, 8, 7, 0, true)        \
  X(bfloat16_t, Rows, 128, 7, 7, 9, 3, false)       \
  X(bfloat16_t, Runs, 3, 1024, 1032, 1024, 0, true) \
  X(bfloat16_t, Runs, 5, 128, 136, 128, 0, true)    \
  X(int16_t, Runs, 2, 768, 768, 770, 0, true)       \
  X(int32_t, Runs, 5, 128, 129, 128, 0, false)      \
  X(int8_t, Blocks, 16, 128, 144, 144, 0, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 1, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 2, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 3, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 4, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 5, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 6, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 7, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 8, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 9, true)     \
  X(int8_t, Blocks, 16, 128, 144, 144, 10, true)    \
  X(int8_t, Blocks, 16, 128, 144, 144, 11, true)    \
  X(int8_t, Blocks, 16, 128, 144, 144, 12, true)    \
  X(int8_t, Blocks, 16, 128, 144, 144, 13, true)    \
  X(int8_t, Blocks, 16, 128, 144, 144, 14, true)    \
  X(int8_t, Blocks, 16, 128, 144, 144, 15, true)    \
  X(int8_t, Blocks, 16, 128, 131, 132, 5, false)    \
  X(uint8_t, Rows, 128, 5, 16, 5, 0, true)          \
  X(uint8_t, Rows, 128, 6, 16, 6, 0, true)          \
  X(uint8_t, Rows, 128, 12, 16, 12, 0, true)        \
  X(bool, Blocks, 16, 64, 64, 64, 0, true)          \
  X(float_e4m3_t, Blocks, 16, 64, 80, 64, 4, true)  \
  X(float_e5m2_t, Rows, 128, 1, 16, 1, 0, true)     \
  X(float, Permuted, 16, 64, 64, 64, 0, true)       \
  X(half_t, Permuted, 48, 24, 24, 25, 0, true)      \
  X(float, Replicas, 32, 12, 12, 12, 0, true)       \
  X(half_t, Replicas, 64, 8, 8, 16, 0, true)        \
  X(float, Cyclic, 16, 64, 64, 64, 0, true)         \
  X(half_t, Cyclic, 16, 64, 64, 64, 0, true)        \
  X(float, OverCtas, 32, 64, 64, 68, 0, true)       \
  X(int8_t, OverCtas, 64, 128, 128, 144, 0, true)

// Boxes of (16, 64) in tiles with permuted rows.
// Y(element type, bits, base and shift of the permutation of byte addresses)
#define SWIZZLED_CASES(Y) \
  Y(half_t, 3, 4, 3)      \
  Y(half_t, 2, 3, 4)      \
  Y(int8_t, 1, 2, 3)      \
  Y(float, 3, 4, 3)

// The first N elements of each part of (16, 64): Z(element type, N, rows start at 16-byte boundaries)
#define FIRST_CASES(Z) \
  Z(float, 0, true)    \
  Z(float, 1, true)    \
  Z(float, 7, true)    \
  Z(half_t, 8, true)   \
  Z(half_t, 7, true)   \
  Z(half_t, 8, false)  \
  Z(int8_t, 5, true)   \
  Z(double, 3, true)   \
  Z(bool, 6, false)

namespace copycheck_sizes {
constexpr int kCtas = 2;
constexpr int kGuard = 64;         ///< recorded bytes behind each tile
constexpr int kInBytes = 1 << 16;  ///< of the source
constexpr int kSharedBytes = 1 << 15;
constexpr int kLogBytes = 1 << 20;  ///< for each CTA
constexpr int kStages = 6;          ///< of the pipelined sum, of (16, 64) i32
constexpr unsigned char kPoison = 0xa5;
constexpr int kParts = 3;
constexpr char const* kPartNames[] = {"views", "tiles", "first"};
}  // namespace copycheck_sizes
