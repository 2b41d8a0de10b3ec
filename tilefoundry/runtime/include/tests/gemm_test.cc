// The warp-specialised kernel of gemm_body.h on the CPU runtime: odd extents, grids smaller and larger than
// the number of tiles, poisoned outputs, against sums of small integers, which are exact.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

extern "C" void gemm_on_cpu(void const* args, bool vector, int64_t grid);

namespace {

struct Argument {
  void* data;
  int64_t shape[2];
  int64_t stride[2];
};
struct Args {
  Argument a, b, c;
  alignas(128) unsigned char maps[3][128];
};

/// A bf16 matrix of small integers whose rows are `pitch` elements apart.
struct Matrix {
  int64_t rows, columns, pitch;
  std::vector<uint16_t> memory;
  uint16_t* base;

  Matrix(int64_t r, int64_t c, bool vector, bool poisoned)
      : rows(r), columns(c), pitch(vector ? (c + 7) / 8 * 8 : c + 3), memory(r * pitch + 17, 0x7fc0) {
    base = memory.data() + 8;
    while (vector && reinterpret_cast<uintptr_t>(base) % 16 != 0) --base;
    for (int64_t i = 0; i < rows && !poisoned; ++i) {
      for (int64_t j = 0; j < columns; ++j) set(i, j, static_cast<float>((i * 7 + j * 5 + i * j) % 7 - 3));
    }
  }
  void set(int64_t i, int64_t j, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    base[i * pitch + j] = static_cast<uint16_t>(bits >> 16);
  }
  float at(int64_t i, int64_t j) const {
    uint32_t const bits = static_cast<uint32_t>(base[i * pitch + j]) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  Argument argument() { return {base, {rows, columns}, {pitch, 1}}; }
};

void check(int64_t m, int64_t n, int64_t k, bool vector, int64_t grid) {
  Matrix a(m, k, vector, false), b(n, k, vector, false), c(m, n, vector, true);
  Args const args{a.argument(), b.argument(), c.argument(), {}};
  gemm_on_cpu(&args, vector, grid);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.f;
      for (int64_t l = 0; l < k; ++l) sum += a.at(i, l) * b.at(j, l);
      // bf16 holds integers up to 256, and k is small enough for these.
      ASSERT_EQ(c.at(i, j), sum) << i << ", " << j << " of " << m << " x " << n << " x " << k;
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = n; j < c.pitch; ++j) ASSERT_NE(c.at(i, j), c.at(i, j)) << "beside row " << i;
  }
}

TEST(Gemm, OddExtents) {
  check(130, 70, 24, true, 2);
  check(200, 300, 20, true, 2);
  check(70, 130, 25, false, 1);
}

TEST(Gemm, GridsOfAnySize) {
  check(300, 520, 17, true, 2);
  check(300, 520, 17, true, 8);
  check(300, 300, 9, false, 3);
}

TEST(Gemm, StagesGoRound) { check(64, 40, 28, true, 2); }

}  // namespace
