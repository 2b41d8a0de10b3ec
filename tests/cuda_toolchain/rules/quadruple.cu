#include "tests/cuda_toolchain/rules/quadruple.h"
#include "tests/cuda_toolchain/rules/twice.h"

__device__ int quadruple(int value) { return twice(twice(value)); }
