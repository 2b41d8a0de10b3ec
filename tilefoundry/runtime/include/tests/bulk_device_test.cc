// Runs the kernels of bulk_body.h on the CPU runtime and on a GPU; both must record the same bytes.
#include "device_cases.h"

extern "C" void bulk_on_cpu(void const* args, bool vector, int part);
extern "C" int bulk_on_gpu(void const* args, bool vector, int part);

namespace {

struct Args {
  DeviceArgument<2> in, out;
  DeviceArgument<1> log;
  DeviceArgument<3> cube;
  DeviceArgument<1> line;
  alignas(128) unsigned char maps[22][128];
};

constexpr int kParts = 11;  // one for each map, and the other ranks
constexpr int64_t kLog = 3 * 6 * 300 * 64;

uint16_t noise(int64_t i) { return static_cast<uint16_t>(i * 40503u >> 3); }
uint16_t poison(int64_t) { return 0xabcd; }

int differences(int64_t rows, int64_t columns, bool vector, int part) {
  DeviceMatrix in(rows, columns, vector, noise), out(rows, columns, vector, poison);
  DeviceBuffer log(bytes_of<uint16_t>(kLog, poison)), other(bytes_of<uint16_t>(4096, noise));
  auto const args = [&](DeviceArgument<2> const& source, DeviceArgument<2> const& written, void* record,
                        void* memory) {
    // Other views of a part of the same memory; the general variant starts at an address that is not aligned.
    auto* const first = static_cast<char*>(memory) + (vector ? 0 : 2);
    return Args{source,
                written,
                {record, {kLog}, {1}},
                {first + (vector ? 0 : 2), {3, 11, 37}, {11 * 40, 40, 1}},
                {first, {1300}, {1}},
                {}};
  };
  Args const on_cpu = args(in.on_cpu(), out.on_cpu(), log.on_cpu(), other.on_cpu());
  bulk_on_cpu(&on_cpu, vector, part);
  Args const on_gpu = args(in.on_gpu(), out.on_gpu(), log.on_gpu(), other.on_gpu());
  require(bulk_on_gpu(&on_gpu, vector, part), "bulk_on_gpu");
  return log.differing<uint16_t>("record") + out.buffer.differing<uint16_t>("output");
}

}  // namespace

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (int part = 0; part < kParts; ++part) {
    for (bool vector : {true, false}) {
      std::string const name = part + 1 < kParts ? "map" + std::to_string(part) : "ranks";
      cases.push_back({"bulk." + name + (vector ? ".vector" : ".general"), [=](bool small) {
                         int count = differences(33, 71, vector, part);
                         if (small) return count;
                         count += differences(70, 130, vector, part);
                         count += differences(320, 640, vector, part);
                         return count + differences(1, 8, vector, part);
                       }});
    }
  }
  return cases;
}
