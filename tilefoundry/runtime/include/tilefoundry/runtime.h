// The one header that generated code and users include.
//
// TILEFOUNDRY_TARGET_CUDA or TILEFOUNDRY_TARGET_CPU says whose meaning the kernel surface has.
// TILEFOUNDRY_HOST_ENTRY instead gives plain C++ for the host side of a library: boundary checks and
// launching.
#pragma once

#if defined(TILEFOUNDRY_TARGET_CUDA) && defined(TILEFOUNDRY_TARGET_CPU)
#error "TileFoundry: define exactly one of TILEFOUNDRY_TARGET_CUDA and TILEFOUNDRY_TARGET_CPU, not both"
#elif !defined(TILEFOUNDRY_TARGET_CUDA) && !defined(TILEFOUNDRY_TARGET_CPU)
#error \
    "TileFoundry: define exactly one of TILEFOUNDRY_TARGET_CUDA and TILEFOUNDRY_TARGET_CPU (depend on :cuda or :cpu)"
#elif defined(TILEFOUNDRY_HOST_ENTRY)
#include <tilefoundry/runtime/host/entry.h>
#elif defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/runtime.cuh>
#else
#include <tilefoundry/runtime/cpu/runtime.h>
#endif
