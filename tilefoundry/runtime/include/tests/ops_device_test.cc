// Runs the kernel of ops_body.h on the CPU runtime and on a GPU; both must record the same bits.
#include "attention_check.h"
#include "device_memory.h"

extern "C" void ops_on_cpu(void const* args, bool vector);
extern "C" int ops_on_gpu(void const* args, bool vector);

namespace {

struct Argument2 {
  void* data;
  int64_t shape[2];
  int64_t stride[2];
};
struct Argument1 {
  void* data;
  int64_t shape[1];
  int64_t stride[1];
};
struct Args {
  Argument2 in, out;
  Argument1 log;
};

constexpr int64_t kLog = 1 << 20;

Argument2 matrix(attention_check::Tensor const& t, void* data) {
  return {data, {t.shape[1], t.shape[2]}, {t.stride[1], t.stride[2]}};
}

/// How many of the recorded and written elements differ.
int differences(int64_t rows, int64_t columns, bool vector) {
  using attention_check::Tensor;
  auto const type = attention_check::Type::kBF16;
  Tensor in(type, 1, rows, columns, vector),
      out[2] = {{type, 1, rows, columns, vector}, {type, 1, rows, columns, vector}};
  in.fill(7);
  // -7 marks what was not recorded: no op gives it everywhere.
  std::vector<float> const blank(kLog, -7.f);
  std::vector<unsigned char> log[2] = {std::vector<unsigned char>(kLog * 4),
                                       std::vector<unsigned char>(kLog * 4)};
  for (auto& l : log) std::memcpy(l.data(), blank.data(), l.size());

  Args const on_cpu{matrix(in, in.base()), matrix(out[0], out[0].base()), {log[0].data(), {kLog}, {1}}};
  ops_on_cpu(&on_cpu, vector);
  DeviceCopy device_in(in.bytes), device_out(out[1].bytes), device_log(log[1]);
  Args const on_gpu{matrix(in, device_in.address(in.base())),
                    matrix(out[1], device_out.address(out[1].base())),
                    {device_log.address(log[1].data()), {kLog}, {1}}};
  require(ops_on_gpu(&on_gpu, vector), "ops_on_gpu");
  device_out.fetch();
  device_log.fetch();

  int count = 0;
  for (int64_t i = 0; i < kLog; ++i) {
    float a, b;
    std::memcpy(&a, &log[0][4 * i], 4);
    std::memcpy(&b, &log[1][4 * i], 4);
    if (a == b || (a != a && b != b)) continue;
    if (count++ < 5) std::printf("record %d: %g on the CPU, %g on the GPU\n", static_cast<int>(i), a, b);
  }
  for (int64_t i = -Tensor::kGuard; i < out[0].stride[0] + Tensor::kGuard; ++i) {
    double const a = load(type, out[0].at(i)), b = load(type, out[1].at(i));
    if (a == b || (a != a && b != b)) continue;
    if (count++ < 5) std::printf("output %d: %g on the CPU, %g on the GPU\n", static_cast<int>(i), a, b);
  }
  std::printf("%d x %d, %s: %d differences\n", static_cast<int>(rows), static_cast<int>(columns),
              vector ? "vector" : "general", count);
  return count;
}

}  // namespace

int main() {
  int count = 0;
  for (bool vector : {true, false}) {
    count += differences(70, 130, vector);
    count += differences(33, 71, vector);
    count += differences(128, 192, vector);
  }
  return count != 0;
}
