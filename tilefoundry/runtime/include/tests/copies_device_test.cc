// The kernel of copies_body.h on a GPU records what loops over elements say.
#include "copies_golden.h"
#include "device_cases.h"

extern "C" int copies_on_gpu(void const* args);

namespace {

int faults(int part) {
  using namespace copies_golden;
  Bytes in = input(), log(kCtas * kLogBytes);
  unsigned char* base = in.data();
  while (reinterpret_cast<uintptr_t>(base) % 16) ++base;
  DeviceCopy device_in(in), device_log(log);
  Args const args{{device_in.address(base), {kInBytes}, {1}},
                  {device_log.address(log.data()), {kCtas * kLogBytes}, {1}},
                  part};
  require(copies_on_gpu(&args), "copies_on_gpu");
  device_log.fetch();
  int count = 0;
  for (int cta = 0; cta < kCtas; ++cta) {
    count += copies_golden::faults(golden(base, cta, part), &log[static_cast<size_t>(cta * kLogBytes)]);
  }
  return count;
}

}  // namespace

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (int part = 0; part < copies_golden::kParts; ++part) {
    cases.push_back(
        {std::string("copies.") + copies_golden::kPartNames[part], [part](bool) { return faults(part); }});
  }
  return cases;
}
