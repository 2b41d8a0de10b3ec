#include "tests/cuda_toolchain/rules/registry.h"

namespace cuda_toolchain {

// Nothing refers to this object, so only `alwayslink` brings it into a program.
static int registration = ++registrations();

}  // namespace cuda_toolchain
