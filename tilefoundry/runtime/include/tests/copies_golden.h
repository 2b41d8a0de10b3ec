// What the kernel of copies_body.h must record, by loops over elements: whoever copies them, with whatever
// instructions, each element of a box lies in its place, and what is not part of it was not touched.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "copies_cases.h"

namespace copies_golden {
using namespace copycheck_sizes;
using Bytes = std::vector<unsigned char>;

struct Argument {
  void* data;
  int64_t shape[1];
  int64_t stride[1];
};
struct Args {
  Argument in, log;
  int64_t part;
};

inline Bytes input() {
  Bytes bytes(kInBytes + 16);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>((i * 2654435761u) >> 13);
  return bytes;
}

/// A recorded piece, and what it is of.
struct Piece {
  std::string name;
  Bytes bytes;
};

struct Golden {
  unsigned char const* in;
  int cta;
  std::vector<Piece> pieces;

  Bytes& add(std::string name, int bytes, int guard = kGuard) {
    pieces.push_back({std::move(name), Bytes(static_cast<size_t>(bytes + guard), kPoison)});
    return pieces.back().bytes;
  }

  void view(std::string name, int item, bool over_ctas, int rows, int columns, int pitch, int tile_pitch,
            int offset) {
    Bytes& tile = add(std::move(name), rows * tile_pitch * item);
    int const count = over_ctas ? rows / 2 : rows, first = over_ctas ? cta * count : 0;
    for (int r = 0; r < count; ++r) {
      std::memcpy(&tile[static_cast<size_t>(r * tile_pitch * item)],
                  in + (offset + (first + r) * pitch) * item, static_cast<size_t>(columns * item));
    }
  }

  void swizzled(std::string name, int item, int bits, int base, int shift) {
    Bytes& tile = add(std::move(name), 16 * 64 * item);
    for (int i = 0; i < 16 * 64; ++i) {
      int const linear = i * item;
      int const at = linear ^ ((linear >> (base + shift) & ((1 << bits) - 1)) << base);
      std::memcpy(&tile[static_cast<size_t>(at)], in + linear, static_cast<size_t>(item));
    }
  }

  void stages() {
    Bytes& sums = add("stages", 4096, 0);
    for (int i = 0; i < 16 * 64; ++i) {
      uint32_t sum = 0;
      for (int n = 0; n < kStages; ++n) {
        uint32_t x;
        std::memcpy(&x, in + 4 * (n * 16 * 64 + i), 4);
        sum += x;
      }
      std::memcpy(&sums[static_cast<size_t>(4 * i)], &sum, 4);
    }
  }

  /// Parts are rows of eight elements.
  void first(std::string name, int item, int n) {
    Bytes& tile = add(std::move(name), 16 * 64 * item);
    for (int i = 0; i < 16 * 64; ++i) {
      if (i % 8 < n)
        std::memcpy(&tile[static_cast<size_t>(i * item)], in + i * item, static_cast<size_t>(item));
    }
  }
};

// Element types by name: only their sizes matter here.
constexpr int size_of(char const* name) {
  constexpr char const* kNames[] = {"double", "int64_t",    "float",  "int32_t",
                                    "half_t", "bfloat16_t", "int16_t"};
  constexpr int kSizes[] = {8, 8, 4, 4, 2, 2, 2};
  for (int i = 0; i < 7; ++i) {
    char const *a = kNames[i], *b = name;
    while (*a && *a == *b) ++a, ++b;
    if (*a == *b) return kSizes[i];
  }
  return 1;
}

inline std::vector<Piece> golden(unsigned char const* in, int cta, int part) {
  Golden g{in, cta, {}};
#define EXPECT_VIEW(T, PLAN, R, C, P, Q, OFFSET, VECTOR)                                           \
  g.view(#T " " #PLAN " " #R "x" #C " from " #P " to " #Q " at " #OFFSET " " #VECTOR, size_of(#T), \
         std::string(#PLAN) == "OverCtas", R, C, P, Q, OFFSET);
#define EXPECT_SWIZZLED(T, BITS, BASE, SHIFT) \
  g.swizzled("swizzled " #T " " #BITS " " #BASE, size_of(#T), BITS, BASE, SHIFT);
#define EXPECT_FIRST(T, N, VECTOR)                \
  g.first("first " #N " of " #T, size_of(#T), N); \
  g.first("first " #N " of " #T " by registers", size_of(#T), N);
  if (part == 0) {
    COPY_CASES(EXPECT_VIEW)
  } else if (part == 1) {
    g.view("whole, aligned rows", 2, false, 16, 64, 80, 72, 0);
    g.view("whole, any rows", 2, false, 16, 64, 77, 72, 0);
    g.view("whole, any rows of f32", 4, false, 16, 64, 77, 72, 0);
    SWIZZLED_CASES(EXPECT_SWIZZLED)
    g.stages();
  } else {
    FIRST_CASES(EXPECT_FIRST)
  }
#undef EXPECT_VIEW
#undef EXPECT_SWIZZLED
#undef EXPECT_FIRST
  return g.pieces;
}

/// How many pieces of a CTA's log are not what they must be; the first few are printed.
inline int faults(std::vector<Piece> const& expected, unsigned char const* log) {
  int count = 0;
  for (Piece const& piece : expected) {
    size_t at = 0;
    while (at < piece.bytes.size() && piece.bytes[at] == log[at]) ++at;
    if (at < piece.bytes.size() && count++ < 5) {
      std::printf("%s: byte %d is %02x, expected %02x\n", piece.name.c_str(), static_cast<int>(at), log[at],
                  piece.bytes[at]);
    }
    log += piece.bytes.size();
  }
  return count;
}

}  // namespace copies_golden
