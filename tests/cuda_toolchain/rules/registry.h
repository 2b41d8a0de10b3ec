#pragma once

namespace cuda_toolchain {

// How many objects registered themselves before main().
int& registrations();

}  // namespace cuda_toolchain
