// What the device tests share: named cases with one main() (device_main.cc), buffers that a case fills on the
// CPU runtime and on a GPU, and the comparison of both. Plain C++ without GoogleTest: the programs also run
// from an archive, under compute-sanitizer among others.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "device_memory.h"

/// A case of a device test. `run` gives the number of failures and prints the first ones. `small`: sizes that
/// a program which looks at every access still ends with; the cases are the same.
struct DeviceCase {
  std::string name;
  std::function<int(bool small)> run;
};

/// The cases of a program; each device test defines it.
std::vector<DeviceCase> device_cases();

/// A tensor as a kernel takes it: address, extents and strides in elements.
template <int Rank>
struct DeviceArgument {
  void* data;
  int64_t shape[Rank];
  int64_t stride[Rank];
};

using Bytes = std::vector<unsigned char>;

/// One buffer of a case: what the CPU runtime reads and writes, and what the GPU does.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(Bytes const& initial) : cpu_(initial), gpu_(initial), device_(gpu_) {}

  void* on_cpu() { return cpu_.data(); }
  void* on_gpu() { return device_.address(gpu_.data()); }

  /// The elements that differ afterwards, as T; any two NaN are equal. Prints the first four.
  template <class T>
  int differing(char const* name) {
    device_.fetch();
    int count = 0;
    for (size_t i = 0; i + sizeof(T) <= cpu_.size(); i += sizeof(T)) {
      T x, y;
      std::memcpy(&x, &cpu_[i], sizeof(T));
      std::memcpy(&y, &gpu_[i], sizeof(T));
      if (x == y || (x != x && y != y) || count++ >= 4) continue;
      std::printf("  %s %lld: %g on the CPU, %g on the GPU\n", name, static_cast<long long>(i / sizeof(T)),
                  static_cast<double>(x), static_cast<double>(y));
    }
    return count;
  }

  /// What the GPU wrote, after differing().
  Bytes const& gpu() const { return gpu_; }

 private:
  Bytes cpu_, gpu_;
  DeviceCopy device_;
};

/// The bytes of `count` elements.
template <class T, class F>
Bytes bytes_of(int64_t count, F const& element) {
  Bytes bytes(static_cast<size_t>(count) * sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    T const value = element(i);
    std::memcpy(&bytes[static_cast<size_t>(i) * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}

/// A matrix of 16-bit elements. As the vector variant of a kernel wants it: rows 16-byte aligned. Otherwise
/// rows of odd pitch from an address that is not aligned.
class DeviceMatrix {
 public:
  template <class F>
  DeviceMatrix(int64_t rows, int64_t columns, bool vector, F const& element)
      : rows_(rows),
        columns_(columns),
        pitch_(vector ? (columns + 7) / 8 * 8 : columns + 3),
        shift_(vector ? 0 : 2),
        buffer(bytes_of<uint16_t>(rows * pitch_ + 8, element)) {}

  DeviceArgument<2> on_cpu() { return at(buffer.on_cpu()); }
  DeviceArgument<2> on_gpu() { return at(buffer.on_gpu()); }

 private:
  DeviceArgument<2> at(void* base) const {
    return {static_cast<char*>(base) + shift_, {rows_, columns_}, {pitch_, 1}};
  }

  int64_t rows_, columns_, pitch_, shift_;

 public:
  DeviceBuffer buffer;
};

/// Prints a size in one form.
inline std::string size_name(int64_t rows, int64_t columns, bool vector) {
  return std::to_string(rows) + "x" + std::to_string(columns) + (vector ? ",vector" : ",general");
}
