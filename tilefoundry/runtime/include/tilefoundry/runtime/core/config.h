// Target macros, function annotations and the unit namespace.
//
// Everything whose meaning depends on the program's shape or on the target lives in the inline namespace
// TILEFOUNDRY_UNIT. Two kernels of different block size can then share a library: without it, the linker
// would keep one of their equally named weak functions for both.
#pragma once

#if defined(TILEFOUNDRY_TARGET_CUDA) && defined(TILEFOUNDRY_TARGET_CPU)
#error "TileFoundry: define exactly one of TILEFOUNDRY_TARGET_CUDA and TILEFOUNDRY_TARGET_CPU, not both"
#elif defined(TILEFOUNDRY_TARGET_CUDA)
#if !defined(__CUDACC__)
#error "TileFoundry: TILEFOUNDRY_TARGET_CUDA needs a CUDA compiler; host code defines TILEFOUNDRY_HOST_ENTRY"
#endif
#define TILEFOUNDRY_HOST_DEVICE __host__ __device__ __forceinline__
#define TILEFOUNDRY_DEVICE __device__ __forceinline__
#elif defined(TILEFOUNDRY_TARGET_CPU)
#define TILEFOUNDRY_HOST_DEVICE inline
#define TILEFOUNDRY_DEVICE inline
#else
#error \
    "TileFoundry: define exactly one of TILEFOUNDRY_TARGET_CUDA and TILEFOUNDRY_TARGET_CPU (depend on :cuda or :cpu)"
#endif

// In checking mode (see cpu/checked_memory.h) every iterator is a checked pointer, and ops say their names.
#if defined(TILEFOUNDRY_CHECKED)
#if defined(TILEFOUNDRY_TARGET_CUDA)
#error "TileFoundry: TILEFOUNDRY_CHECKED needs the CPU target"
#endif
#define TILEFOUNDRY_OP(name) ::tilefoundry::target::OpScope const op_scope(name)
#else
#define TILEFOUNDRY_OP(name) static_cast<void>(0)
#endif

// The default unit bears the target's name, so `tilefoundry::cpu::launch` must be that namespace and not one
// inside it.
#if !defined(TILEFOUNDRY_UNIT) && defined(TILEFOUNDRY_CHECKED)
#define TILEFOUNDRY_UNIT cpu_checked
#endif
#if defined(TILEFOUNDRY_UNIT)
#define TILEFOUNDRY_CPU_NAMESPACE_BEGIN namespace cpu {
#define TILEFOUNDRY_CPU_NAMESPACE_END }
#else
#define TILEFOUNDRY_CPU_NAMESPACE_BEGIN
#define TILEFOUNDRY_CPU_NAMESPACE_END
#if defined(TILEFOUNDRY_TARGET_CUDA)
#define TILEFOUNDRY_UNIT cuda
#else
#define TILEFOUNDRY_UNIT cpu
#endif
#endif

// Loops over register fragments are unrolled on a GPU: registers have no run-time index. Loops over memory
// are unrolled by 4 or 16, for loads in flight. Loops over much code are not.
#if defined(__CUDA_ARCH__)
#define TILEFOUNDRY_UNROLL _Pragma("unroll")
#define TILEFOUNDRY_UNROLL_4 _Pragma("unroll 4")
#define TILEFOUNDRY_UNROLL_16 _Pragma("unroll 16")
#define TILEFOUNDRY_NO_UNROLL _Pragma("unroll 1")
#else
#define TILEFOUNDRY_UNROLL
#define TILEFOUNDRY_UNROLL_4
#define TILEFOUNDRY_UNROLL_16
#define TILEFOUNDRY_NO_UNROLL
#endif
