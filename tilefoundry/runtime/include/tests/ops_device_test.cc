// Runs parts of the ops' tests (TEST_PARTS of ops_parts.h) on a GPU: golden ones must record what they say,
// others the bits that the CPU runtime records.
#include "device_cases.h"
#include "ops_parts.h"

#define DECLARE(name, ...)                                            \
  extern "C" void ops_##name##_on_cpu(void const* args, bool vector); \
  extern "C" int ops_##name##_on_gpu(void const* args, bool vector);
TEST_PARTS(DECLARE)
#undef DECLARE

namespace {

struct Args {
  DeviceArgument<2> in, out;
  DeviceArgument<1> log, scratch;
  int64_t repetitions;
};

struct Part {
  char const* name;
  void (*on_cpu)(void const*, bool);
  int (*on_gpu)(void const*, bool);
  bool variants, golden;
};

constexpr int64_t kLog = 3 << 19;
constexpr float kBlank = -7.f;  // marks what was not recorded: no op gives it everywhere

/// A bf16 in [-2, 2).
uint16_t noise(int64_t i) {
  float const value = static_cast<float>(i * 40503 % 65521 % 128 - 64) / 32.f;
  uint32_t word;
  std::memcpy(&word, &value, 4);
  return static_cast<uint16_t>(word >> 16);
}
uint16_t poison(int64_t) { return 0x7fc1; }

/// Entries of a golden part's log that are not what they must be; none at all is a failure.
int wrong_entries(Bytes const& log) {
  int count = 0;
  size_t recorded = 0;
  for (size_t i = 0; i < log.size(); i += 8) {
    float pair[2];
    std::memcpy(pair, &log[i], 8);
    recorded += pair[0] != kBlank || pair[1] != kBlank;
    if (pair[0] == pair[1] || count++ >= 4) continue;
    std::printf("  entry %lld: %g, expected %g\n", static_cast<long long>(i / 8), pair[0], pair[1]);
  }
  return recorded == 0 ? 1 : count;
}

int differences(Part const& part, int64_t rows, int64_t columns, bool vector, int64_t repetitions) {
  DeviceMatrix in(rows, columns, vector, noise), out(rows, columns, vector, poison);
  DeviceBuffer log(bytes_of<float>(kLog, [](int64_t) { return kBlank; })), scratch(Bytes(65536));
  auto const args = [&](DeviceArgument<2> const& source, DeviceArgument<2> const& written, void* record,
                        void* memory) {
    return Args{source, written, {record, {kLog}, {1}}, {memory, {16384}, {1}}, repetitions};
  };
  Args const on_cpu = args(in.on_cpu(), out.on_cpu(), log.on_cpu(), scratch.on_cpu());
  part.on_cpu(&on_cpu, vector);
  Args const on_gpu = args(in.on_gpu(), out.on_gpu(), log.on_gpu(), scratch.on_gpu());
  require(part.on_gpu(&on_gpu, vector), part.name);
  int const count = log.differing<float>("record") + out.buffer.differing<uint16_t>("output");
  return part.golden ? count + wrong_entries(log.gpu()) : count;
}

}  // namespace

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
#define ADD(name, header, threads, variants, golden) \
  {"ops." #name, ops_##name##_on_cpu, ops_##name##_on_gpu, variants, golden},
  static Part const parts[] = {TEST_PARTS(ADD)};
#undef ADD
  for (Part const& part : parts) {
    for (bool vector : {true, false}) {
      if (vector && !part.variants) continue;
      std::string const name =
          std::string(part.name) + (part.variants ? vector ? ".vector" : ".general" : "");
      cases.push_back({name, [&part, vector](bool small) {
                         int count = differences(part, 70, 130, vector, small ? 6 : 1000);
                         if (small || !part.variants) return count;
                         count += differences(part, 33, 71, vector, 1000);
                         return count + differences(part, 128, 192, vector, 1000);
                       }});
    }
  }
  return cases;
}
