// Everything that a generated host source uses. The umbrella header <tilefoundry/runtime.h> gives this, and
// no device runtime, to a translation unit that is compiled with TILEFOUNDRY_HOST_ENTRY.
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>

#include "tilefoundry/runtime/host/bound.h"
#include "tilefoundry/runtime/host/check.h"
#include "tilefoundry/runtime/host/launch.h"
#include "tilefoundry/runtime/host/spec.h"
#include "tilefoundry/runtime/host/workspace.h"

#if defined(TILEFOUNDRY_TARGET_CUDA)
#include "tilefoundry/runtime/host/cuda/kernel.h"
#elif defined(TILEFOUNDRY_TARGET_CPU)
#include "tilefoundry/runtime/host/cpu.h"
#else
#error "define TILEFOUNDRY_TARGET_CUDA or TILEFOUNDRY_TARGET_CPU"
#endif
