// The kernel of copies_body.h on a GPU records what loops over elements say.
#include "copies_golden.h"
#include "device_memory.h"

extern "C" int copies_on_gpu(void const* args);

int main() {
  using namespace copies_golden;
  Bytes in = input(), log(kCtas * kLogBytes);
  unsigned char* base = in.data();
  while (reinterpret_cast<uintptr_t>(base) % 16) ++base;
  DeviceCopy device_in(in), device_log(log);
  Args const args{{device_in.address(base), {kInBytes}, {1}},
                  {device_log.address(log.data()), {kCtas * kLogBytes}, {1}}};
  require(copies_on_gpu(&args), "copies_on_gpu");
  device_log.fetch();
  int count = 0, pieces = 0;
  for (int cta = 0; cta < kCtas; ++cta) {
    auto const expected = golden(base, cta);
    pieces += static_cast<int>(expected.size());
    count += faults(expected, &log[static_cast<size_t>(cta * kLogBytes)]);
  }
  std::printf("%d of %d pieces differ\n", count, pieces);
  return count != 0 || pieces == 0;
}
