// Runs the kernel of gemm_body.h on the CPU runtime and on a GPU, on small integers, whose sums are exact:
// both must give the same bits, and write nothing beside C.
#include "device_cases.h"

extern "C" void gemm_on_cpu(void const* args, bool vector, int64_t grid);
extern "C" int gemm_on_gpu(void const* tensors, bool vector, void* stream);

namespace {

struct Args {
  DeviceArgument<2> tensors[3];
  alignas(128) unsigned char maps[3][128];
};

/// A bf16 from -2 to 2.
uint16_t small_integer(int64_t i) {
  float const value = static_cast<float>(i * 40503 % 65521 % 5 - 2);
  uint32_t word;
  std::memcpy(&word, &value, 4);
  return static_cast<uint16_t>(word >> 16);
}
uint16_t poison(int64_t) { return 0xffff; }

int differences(int64_t m, int64_t n, int64_t k, bool vector) {
  DeviceMatrix a(m, k, vector, small_integer), b(n, k, vector, small_integer), c(m, n, vector, poison);
  Args const args{{a.on_cpu(), b.on_cpu(), c.on_cpu()}, {}};
  gemm_on_cpu(&args, vector, 4);
  DeviceArgument<2> const tensors[] = {a.on_gpu(), b.on_gpu(), c.on_gpu()};
  require(gemm_on_gpu(tensors, vector, nullptr), "gemm_on_gpu");
  require(cudaDeviceSynchronize(), "gemm_on_gpu");
  return c.buffer.differing<uint16_t>("c");
}

}  // namespace

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (bool vector : {true, false}) {
    cases.push_back({vector ? "gemm.vector" : "gemm.general", [vector](bool small) {
                       int count = differences(130, 300, 72, vector) + differences(1, 1, 8, vector);
                       if (small) return count;
                       count += differences(128, 256, 64, vector) + differences(333, 523, 401, vector);
                       return count + differences(520, 1040, 33, vector);
                     }});
  }
  return cases;
}
