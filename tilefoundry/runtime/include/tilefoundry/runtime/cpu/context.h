// One side of a switch between fibres: its stack, and what a thread otherwise has once.
#pragma once

#include <cxxabi.h>
#include <tilefoundry/runtime/cpu/fibre.h>

#include <cstddef>

#if defined(__has_feature)
#define TILEFOUNDRY_HAS_FEATURE(name) __has_feature(name)
#else
#define TILEFOUNDRY_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || TILEFOUNDRY_HAS_FEATURE(address_sanitizer)
#define TILEFOUNDRY_ADDRESS_SANITIZER 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || TILEFOUNDRY_HAS_FEATURE(thread_sanitizer)
#define TILEFOUNDRY_THREAD_SANITIZER 1
#include <sanitizer/tsan_interface.h>
#endif
#undef TILEFOUNDRY_HAS_FEATURE

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace fibre {

/// The exceptions that are being handled or thrown, as in __cxa_eh_globals of the Itanium C++ ABI: a fibre
/// that switches within a handler must find its own when it goes on.
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Those of the running thread.
inline Exceptions& thread_exceptions() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

/// A fibre, or what runs fibres. Sanitizers are told which stack runs, or they take a throw for damage.
class Context {
 public:
  /// A fibre that starts with `entry` on a stack whose top is `top`.
  void prepare(char* top, void (*entry)()) {
    stack_ = prepare_stack(top, entry);
    exceptions_ = {};
#if defined(TILEFOUNDRY_ADDRESS_SANITIZER)
    bottom_ = top - Stacks::kBytes;
    size_ = Stacks::kBytes;
    fake_ = nullptr;
#endif
#if defined(TILEFOUNDRY_THREAD_SANITIZER)
    end();
    fibre_ = __tsan_create_fiber(0);
#endif
  }

  /// The fibre has ended. (A thread that runs fibres has no end here.)
  void end() {
#if defined(TILEFOUNDRY_THREAD_SANITIZER)
    if (fibre_) __tsan_destroy_fiber(fibre_);
    fibre_ = nullptr;
#endif
  }

  /// The thread that is about to run fibres.
  void enter() {
#if defined(TILEFOUNDRY_THREAD_SANITIZER)
    fibre_ = __tsan_get_current_fiber();
#endif
  }

  /// Goes on at `to`; returns when somebody goes on here.
  /// @param last whether nobody will
  void leave_for(Context& to, Exceptions& thread, [[maybe_unused]] bool last = false) {
    exceptions_ = thread;
    thread = to.exceptions_;
#if defined(TILEFOUNDRY_ADDRESS_SANITIZER)
    to.from_ = this;
    __sanitizer_start_switch_fiber(last ? nullptr : &fake_, to.bottom_, to.size_);
#endif
#if defined(TILEFOUNDRY_THREAD_SANITIZER)
    __tsan_switch_to_fiber(to.fibre_, 0);
#endif
    switch_stack(&stack_, to.stack_);
    arrive();
  }

  /// The first thing that a fibre does.
  void arrive() {
#if defined(TILEFOUNDRY_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake_, &from_->bottom_, &from_->size_);
#endif
  }

 private:
  void* stack_ = nullptr;
  Exceptions exceptions_;
#if defined(TILEFOUNDRY_ADDRESS_SANITIZER)
  void const* bottom_ = nullptr;
  size_t size_ = 0;
  void* fake_ = nullptr;
  Context* from_ = nullptr;  // who came here last
#endif
#if defined(TILEFOUNDRY_THREAD_SANITIZER)
  void* fibre_ = nullptr;
#endif
};

}  // namespace fibre
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
