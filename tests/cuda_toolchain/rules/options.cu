#include <options/level.h>

#include "tests/cuda_toolchain/rules/options.h"

namespace cuda_toolchain {

// The device compiler sees the macros too.
__global__ void local_kernel(int* value) { *value = LOCAL; }

Options options() {
#ifdef __CHAR_UNSIGNED__
  bool is_unsigned = true;
#else
  bool is_unsigned = false;
#endif
  return {kLevel, SHARED, TEXT, LOCAL, FROM_COPTS, FROM_HOST_COPTS, is_unsigned, __DATE__};
}

}  // namespace cuda_toolchain
