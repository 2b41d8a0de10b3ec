#include "tests/cuda_toolchain/rules/registry.h"

namespace cuda_toolchain {

int& registrations() {
  static int count = 0;
  return count;
}

}  // namespace cuda_toolchain
