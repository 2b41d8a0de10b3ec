// Runs the cases of a device test: PROGRAM [--list] [--small] [PART OF A NAME...]. Without names all cases.
// The exit code is 1 when a case failed, 2 when no case has such a name.
#include "device_cases.h"

int main(int argc, char** argv) {
  bool list = false, small = false;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument == "--list") {
      list = true;
    } else if (argument == "--small") {
      small = true;
    } else {
      wanted.push_back(argument);
    }
  }
  int ran = 0, failed = 0;
  for (DeviceCase const& one : device_cases()) {
    bool chosen = wanted.empty();
    for (auto const& part : wanted) chosen = chosen || one.name.find(part) != std::string::npos;
    if (!chosen) continue;
    ++ran;
    if (list) {
      std::printf("%s\n", one.name.c_str());
      continue;
    }
    int const failures = one.run(small);
    failed += failures != 0;
    std::printf("%s: %s", one.name.c_str(), failures == 0 ? "passed\n" : "FAILED, ");
    if (failures != 0) std::printf("%d differences\n", failures);
    std::fflush(stdout);
  }
  if (ran == 0) {
    std::printf("no case has such a name; --list prints them\n");
    return 2;
  }
  if (!list) std::printf("%d cases, %d failed\n", ran, failed);
  return failed != 0;
}
