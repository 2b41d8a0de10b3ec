// Runs the kernel of gemm_body.h on the CPU runtime and on a GPU, on small integers, whose sums are exact:
// both must give the same bits, and write nothing beside C.
#include <cstdint>
#include <cstring>

#include "device_memory.h"

extern "C" void gemm_on_cpu(void const* args, bool vector, int64_t grid);
extern "C" int gemm_on_gpu(void const* tensors, bool vector, void* stream);

namespace {

struct Argument {
  void* data;
  int64_t shape[2];
  int64_t stride[2];
};
struct Args {
  Argument tensors[3];
  alignas(128) unsigned char maps[3][128];
};

using Bytes = std::vector<unsigned char>;

struct Matrix {
  int64_t rows, columns, pitch, shift;
  Bytes memory;

  Matrix(int64_t r, int64_t c, bool vector, bool poisoned)
      : rows(r),
        columns(c),
        pitch(vector ? (c + 7) / 8 * 8 : c + 3),
        shift(vector ? 0 : 2),
        memory(static_cast<size_t>(2 * r * pitch + 16), 0xff) {
    for (int64_t i = 0; !poisoned && i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        float const value = static_cast<float>((i * 7 + j * 5 + i * j) % 5 - 2);
        std::memcpy(&memory[static_cast<size_t>(shift + 2 * (i * pitch + j))],
                    reinterpret_cast<char const*>(&value) + 2, 2);
      }
    }
  }
  Argument at(void* base) { return {static_cast<char*>(base) + shift, {rows, columns}, {pitch, 1}}; }
};

int differences(int64_t m, int64_t n, int64_t k, bool vector) {
  Matrix a(m, k, vector, false), b(n, k, vector, false), c(m, n, vector, true), ours(m, n, vector, true);
  Args const args{{a.at(a.memory.data()), b.at(b.memory.data()), c.at(c.memory.data())}, {}};
  gemm_on_cpu(&args, vector, 4);
  DeviceCopy device_a(a.memory), device_b(b.memory), device_c(ours.memory);
  Argument const tensors[] = {a.at(device_a.address(a.memory.data())),
                              b.at(device_b.address(b.memory.data())),
                              ours.at(device_c.address(ours.memory.data()))};
  require(gemm_on_gpu(tensors, vector, nullptr), "gemm_on_gpu");
  require(cudaDeviceSynchronize(), "gemm_on_gpu");
  device_c.fetch();
  int count = 0;
  for (size_t i = 0; i < c.memory.size(); ++i) count += c.memory[i] != ours.memory[i];
  std::printf("%d x %d x %d, %s: %d differing bytes\n", static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), vector ? "vector" : "general", count);
  return count;
}

}  // namespace

int main() {
  int count = 0;
  for (bool vector : {true, false}) {
    count += differences(128, 256, 64, vector);
    count += differences(1, 1, 8, vector);
    count += differences(130, 300, 72, vector);
    count += differences(333, 523, 401, vector);
    count += differences(520, 1040, 33, vector);
  }
  return count != 0;
}
