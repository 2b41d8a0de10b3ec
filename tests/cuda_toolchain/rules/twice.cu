#include "tests/cuda_toolchain/rules/twice.h"

__device__ int twice(int value) { return 2 * value; }
