// Runs the kernel of bulk_body.h on the CPU runtime and on a GPU; both must record the same bytes.
#include <cstdint>
#include <cstring>

#include "device_memory.h"

extern "C" void bulk_on_cpu(void const* args, bool vector);
extern "C" int bulk_on_gpu(void const* args, bool vector);

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
struct Argument3 {
  void* data;
  int64_t shape[3];
  int64_t stride[3];
};
struct Args {
  Argument2 in, out;
  Argument1 log;
  Argument3 cube;
  Argument1 line;
  alignas(128) unsigned char maps[22][128];
};

constexpr int64_t kLog = 710000;
constexpr uint16_t kPoison = 0xabcd;

using Bytes = std::vector<unsigned char>;

Bytes filled(int64_t elements, bool random) {
  Bytes bytes(static_cast<size_t>(2 * elements + 16));
  for (int64_t i = 0; i < elements + 8; ++i) {
    uint16_t const value = random ? static_cast<uint16_t>(i * 40503u >> 3) : kPoison;
    std::memcpy(&bytes[2 * i], &value, 2);
  }
  return bytes;
}

int differing(char const* name, Bytes const& a, Bytes const& b) {
  int count = 0;
  for (size_t i = 0; i + 1 < a.size(); i += 2) {
    uint16_t x, y;
    std::memcpy(&x, &a[i], 2);
    std::memcpy(&y, &b[i], 2);
    if (x != y && count++ < 4) {
      std::printf("%s %d: %04x on the CPU, %04x on the GPU\n", name, static_cast<int>(i / 2), x, y);
    }
  }
  return count;
}

int differences(int64_t rows, int64_t columns, bool vector) {
  int64_t const pitch = vector ? (columns + 7) / 8 * 8 : columns + 3;
  Bytes in = filled(rows * pitch, true);
  Bytes out[2] = {filled(rows * pitch, false), filled(rows * pitch, false)};
  Bytes log[2] = {filled(kLog, false), filled(kLog, false)};
  // The general variant starts at an address that is not aligned.
  int64_t const shift = vector ? 0 : 2;
  auto const matrix = [&](void* data) {
    return Argument2{static_cast<char*>(data) + shift, {rows, columns}, {pitch, 1}};
  };
  // Other views of a part of the same memory.
  Bytes other = filled(4096, true);
  auto const cube = [&](void* data) {
    return Argument3{static_cast<char*>(data) + 2 * shift, {3, 11, 37}, {11 * 40, 40, 1}};
  };
  auto const line = [&](void* data) { return Argument1{static_cast<char*>(data) + shift, {1300}, {1}}; };
  Args const on_cpu{matrix(in.data()),  matrix(out[0].data()), {log[0].data(), {kLog}, {1}},
                    cube(other.data()), line(other.data()),    {}};
  bulk_on_cpu(&on_cpu, vector);
  DeviceCopy device_in(in), device_other(other), device_out(out[1]), device_log(log[1]);
  Args const on_gpu{matrix(device_in.address(in.data())),
                    matrix(device_out.address(out[1].data())),
                    {device_log.address(log[1].data()), {kLog}, {1}},
                    cube(device_other.address(other.data())),
                    line(device_other.address(other.data())),
                    {}};
  require(bulk_on_gpu(&on_gpu, vector), "bulk_on_gpu");
  device_out.fetch();
  device_log.fetch();
  int const count = differing("record", log[0], log[1]) + differing("output", out[0], out[1]);
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
    count += differences(320, 640, vector);
    count += differences(1, 8, vector);
  }
  return count != 0;
}
