#pragma once

namespace cuda_toolchain {

// The handles of three kernels, each from a file called scale.cu.
const void* scale_one();
const void* scale_two();
const void* scale_three();

}  // namespace cuda_toolchain
