// Stacks and the register switch of fibres. A switch is a function call that returns on another stack: only
// what the calling convention preserves is saved (the modes of floating-point arithmetic among it), and there
// is no system call.
#pragma once

#include <sys/mman.h>
#include <tilefoundry/runtime/core/config.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace fibre {

/// Leaves the running stack, storing where it stands in *from, and continues at `to`.
// Where gcc sees the whole program, it keeps values in registers that a callee leaves alone: but the callee
// here is whatever runs on the other stack.
#if defined(__clang__)
__attribute__((noinline))
#else
__attribute__((noipa))
#endif
inline void switch_stack(void** from, void* to) {
#if defined(__x86_64__)
  // rbp cannot be named as clobbered where it is the frame pointer. The 128 bytes below rsp may hold this
  // frame's data.
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "subq $8, %%rsp\n\t"
      "stmxcsr (%%rsp)\n\t"
      "fnstcw 4(%%rsp)\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "ldmxcsr (%%rsp)\n\t"
      "fldcw 4(%%rsp)\n\t"
      "addq $8, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory");
#elif defined(__aarch64__)
  register void** from_register asm("x0") = from;
  register void* to_register asm("x1") = to;
  asm volatile(
      "adr x17, 1f\n\t"
      "mrs x15, fpcr\n\t"
      "stp x29, x17, [sp, #-32]!\n\t"
      "str x15, [sp, #16]\n\t"
      "mov x16, sp\n\t"
      "str x16, [x0]\n\t"
      "mov sp, x1\n\t"
      "ldr x15, [sp, #16]\n\t"
      "msr fpcr, x15\n\t"
      "ldp x29, x17, [sp], #32\n\t"
      "mov x30, xzr\n\t"  // entry's return address, where a walk of the stack ends
      "br x17\n"
      "1:\n\t"
      "hint #36"
      : "+r"(from_register), "+r"(to_register)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v8", "v9", "v10",
        "v11", "v12", "v13", "v14", "v15", "cc", "memory");
#else
#error "TileFoundry: fibres need x86-64 or aarch64"
#endif
}

/// The modes of floating-point arithmetic, as a switch saves them.
inline void save_modes(void* slot) {
#if defined(__x86_64__)
  auto* const words = static_cast<uint32_t*>(slot);
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(words[0]), "=m"(words[1]));
#else
  asm volatile("mrs %0, fpcr" : "=r"(*static_cast<uint64_t*>(slot)));
#endif
}

/// Prepares a stack so that switching to the result calls `entry`, which must not return, in the modes that
/// are in force now.
inline void* prepare_stack(char* top, void (*entry)()) {
  void** slots = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  // entry's return address, where a walk of the stack ends; at entry rsp is 8 below a multiple of 16
  slots[-3] = nullptr;
  slots[-4] = reinterpret_cast<void*>(entry);
  save_modes(slots - 5);
  return slots - 5;
#else
  slots[-4] = nullptr;  // the frame pointer
  slots[-3] = reinterpret_cast<void*>(entry);
  save_modes(slots - 2);
  return slots - 4;
#endif
}

/// Stacks of equal size, each above pages that fault; memory is used only where a stack has been touched.
class Stacks {
 public:
  static constexpr size_t kBytes = 256 * 1024;
  /// What faults, a multiple of the page of any system: a frame that is smaller cannot reach over it.
  static constexpr size_t kGuardBytes = 64 * 1024;

  Stacks() = default;
  Stacks(Stacks const&) = delete;
  Stacks& operator=(Stacks const&) = delete;
  ~Stacks() { release(); }

  /// Makes at least `count` stacks available; those in use must be none.
  void reserve(int count) {
    if (count <= count_) return;
    release();
    size_t const pitch = kBytes + kGuardBytes;
    void* const base = mmap(nullptr, pitch * static_cast<size_t>(count), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(base);
    pitch_ = pitch;
    count_ = count;
    for (int i = 0; i < count; ++i) {
      if (mprotect(base_ + static_cast<size_t>(i) * pitch_, kGuardBytes, PROT_NONE) == 0) continue;
      release();  // none of them is kept without its guard
      throw std::bad_alloc();
    }
  }

  char* top(int i) const { return base_ + static_cast<size_t>(i + 1) * pitch_; }

 private:
  void release() {
    if (base_) munmap(base_, pitch_ * static_cast<size_t>(count_));
    base_ = nullptr;
    count_ = 0;
  }

  char* base_ = nullptr;
  size_t pitch_ = 0;
  int count_ = 0;
};

}  // namespace fibre
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
