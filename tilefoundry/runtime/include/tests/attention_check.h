// Inputs, an f64 reference and a verdict for the attention kernels, on the CPU and on a GPU. No CuTe, no
// GoogleTest.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace attention_check {

enum class Type { kF32, kF16, kBF16 };

inline int size_of(Type type) { return type == Type::kF32 ? 4 : 2; }
/// Largest relative error of one rounding.
inline double roundoff(Type type) {
  return std::ldexp(1., type == Type::kF32 ? -24 : type == Type::kF16 ? -11 : -8);
}

/// A value that f32, f16 and bf16 hold exactly: a multiple of 1/32 in [-2, 2).
inline double exact_value(uint32_t i) {
  i = (i ^ 61u ^ i >> 16) * 9u;
  i = (i ^ i >> 4) * 0x27d4eb2du;
  return (static_cast<int>((i >> 15) % 128u) - 64) / 32.;
}

inline void store(Type type, void* at, double value) {
  float const f = static_cast<float>(value);
  if (type == Type::kF32) {
    std::memcpy(at, &f, 4);
    return;
  }
  uint16_t bits = 0;
  if (type == Type::kBF16) {
    uint32_t word;
    std::memcpy(&word, &f, 4);
    bits = static_cast<uint16_t>(word >> 16);
  } else if (std::isnan(value)) {
    bits = 0x7fff;
  } else if (value != 0) {
    int exponent;
    double const fraction = std::frexp(std::fabs(value), &exponent);
    bits = static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                                 static_cast<int>(fraction * 2048) % 1024);
  }
  std::memcpy(at, &bits, 2);
}

inline double load(Type type, void const* at) {
  if (type == Type::kF32) {
    float f;
    std::memcpy(&f, at, 4);
    return f;
  }
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  if (type == Type::kBF16) {
    uint32_t const word = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  }
  int const exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double const magnitude = exponent == 31 ? (mantissa ? std::nan("") : HUGE_VAL)
                           : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                          : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// The argument record of a kernel, by the launch's layout.
struct Argument {
  void* data;
  int64_t shape[3];
  int64_t stride[3];
};

/// A (batch, rows, columns) tensor within a larger poisoned buffer.
struct Tensor {
  Type type;
  int64_t shape[3], stride[3];
  std::vector<unsigned char> bytes;
  static constexpr int64_t kGuard = 64;  // elements before and behind, a multiple of 16 bytes

  /// @param vector rows contiguous and 16-byte aligned; otherwise columns two apart in rows of odd pitch
  Tensor(Type t, int64_t b, int64_t s, int64_t d, bool vector) : type(t), shape{b, s, d} {
    stride[2] = vector ? 1 : 2;
    stride[1] = vector ? (d + 7) / 8 * 8 + 8 : 2 * d + 1;
    stride[0] = stride[1] * s + (vector ? 16 : 3);
    bytes.resize(static_cast<size_t>((stride[0] * b + 2 * kGuard) * size_of(t)) + 16);
    for (int64_t i = 0; i < stride[0] * b + 2 * kGuard; ++i) store(t, at(i - kGuard), std::nan(""));
  }

  unsigned char* base() {
    auto const address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (16 - address % 16) % 16 + kGuard * size_of(type);
  }
  unsigned char* at(int64_t element) { return base() + element * size_of(type); }
  double get(int64_t b, int64_t s, int64_t d) {
    return load(type, at(b * stride[0] + s * stride[1] + d * stride[2]));
  }

  void fill(uint32_t salt) {
    for (int64_t b = 0; b < shape[0]; ++b) {
      for (int64_t s = 0; s < shape[1]; ++s) {
        for (int64_t d = 0; d < shape[2]; ++d) {
          store(type, at(b * stride[0] + s * stride[1] + d * stride[2]),
                exact_value(salt + static_cast<uint32_t>((b * shape[1] + s) * shape[2] + d)));
        }
      }
    }
  }

  int64_t numbers() {
    int64_t n = 0;
    for (int64_t i = -kGuard; i < stride[0] * shape[0] + kGuard; ++i) n += !std::isnan(load(type, at(i)));
    return n;
  }

  Argument argument(void* data) const {
    return {data, {shape[0], shape[1], shape[2]}, {stride[0], stride[1], stride[2]}};
  }
};

struct Problem {
  Type type;
  int64_t batch, rows, columns;
  bool causal;
  Tensor q, k, v, out;

  Problem(Type t, int64_t b, int64_t s, int64_t d, bool is_causal, bool vector)
      : type(t),
        batch(b),
        rows(s),
        columns(d),
        causal(is_causal),
        q(t, b, s, d, vector),
        k(t, b, s, d, vector),
        v(t, b, s, d, vector),
        out(t, b, s, d, vector) {
    q.fill(1);
    k.fill(1000003);
    v.fill(2000003);
  }

  /// @return what is wrong with `out`, empty when nothing is
  std::string verdict() {
    // One rounding of the probabilities and one of the result, and the f32 sums and exponentials.
    double const bound = 2 * (2 * roundoff(type) + 4e-6);
    std::vector<double> p(static_cast<size_t>(rows));
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < rows; ++i) {
        int64_t const keys = causal ? i + 1 : rows;
        double largest = -HUGE_VAL, total = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < columns; ++d) score += q.get(b, i, d) * k.get(b, j, d);
          p[j] = score / std::sqrt(static_cast<double>(columns));
          largest = std::max(largest, p[j]);
        }
        for (int64_t j = 0; j < keys; ++j) total += p[j] = std::exp(p[j] - largest);
        for (int64_t d = 0; d < columns; ++d) {
          double expected = 0;
          for (int64_t j = 0; j < keys; ++j) expected += p[j] / total * v.get(b, j, d);
          double const got = out.get(b, i, d);
          if (!(std::fabs(got - expected) <= bound)) {
            return "out[" + std::to_string(b) + ", " + std::to_string(i) + ", " + std::to_string(d) +
                   "] is " + std::to_string(got) + ", expected " + std::to_string(expected) + " within " +
                   std::to_string(bound);
          }
        }
      }
    }
    if (out.numbers() != batch * rows * columns) return "elements outside the result were written";
    return "";
  }
};

}  // namespace attention_check
