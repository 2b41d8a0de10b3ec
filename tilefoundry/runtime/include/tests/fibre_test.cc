// The register switch and the stacks of fibres: what survives, where a walk ends, what faults.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tilefoundry/runtime/cpu/fibre.h>
#include <unistd.h>
#include <unwind.h>

#include <cfenv>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// The test's own stack and one that runs `body`, in turn.
class Pair {
 public:
  explicit Pair(void (*body)(Pair&)) : body_(body) {
    stacks_.reserve(1);
    running_ = this;
    other_ = fibre::prepare_stack(stacks_.top(0), [] {
      Pair& self = *running_;
      self.body_(self);
      self.finished_ = true;
      for (;;) self.leave();
    });
  }

  void enter() { fibre::switch_stack(&own_, other_); }
  void leave() { fibre::switch_stack(&other_, own_); }
  bool finished() const { return finished_; }

 private:
  inline static Pair* running_ = nullptr;
  fibre::Stacks stacks_;
  void (*body_)(Pair&);
  void* own_ = nullptr;
  void* other_ = nullptr;
  bool finished_ = false;
};

/// A number that depends on values which are alive across every `step`.
template <class Value, class Step>
Value mix(int seed, Step const& step) {
  Value volatile source = static_cast<Value>(seed);
  Value a = source, b = source + 1, c = source + 2, d = source + 3, e = source + 4, f = source + 5;
  for (int i = 0; i < 8; ++i) {
    step();
    a += b, b += c, c += d, d += e, e += f, f += a;
  }
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

/// Whether the registers that a function preserves hold after `step` what was put into them.
template <class Step>
bool preserved(int64_t seed, Step const& step) {
#if defined(__x86_64__)
  register int64_t r0 asm("rbx") = seed;
  register int64_t r1 asm("r12") = seed + 1;
  register int64_t r2 asm("r13") = seed + 2;
  register int64_t r3 asm("r14") = seed + 3;
  register int64_t r4 asm("r15") = seed + 4;
  asm volatile("" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4));
  step();
  asm volatile("" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4));
  return r0 == seed && r1 == seed + 1 && r2 == seed + 2 && r3 == seed + 3 && r4 == seed + 4;
#else
  double const real = static_cast<double>(seed);
  register int64_t r0 asm("x19") = seed;
  register int64_t r1 asm("x20") = seed + 1;
  register int64_t r2 asm("x24") = seed + 2;
  register int64_t r3 asm("x28") = seed + 3;
  register double v0 asm("d8") = real;
  register double v1 asm("d9") = real + 1;
  register double v2 asm("d14") = real + 2;
  register double v3 asm("d15") = real + 3;
  asm volatile("" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+w"(v0), "+w"(v1), "+w"(v2), "+w"(v3));
  step();
  asm volatile("" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+w"(v0), "+w"(v1), "+w"(v2), "+w"(v3));
  return r0 == seed && r1 == seed + 1 && r2 == seed + 2 && r3 == seed + 3 && v0 == real && v1 == real + 1 &&
         v2 == real + 2 && v3 == real + 3;
#endif
}

TEST(Switch, ValuesOfBothStacksSurvive) {
  static float inside[2];
  Pair pair([](Pair& self) {
    inside[0] = mix<float>(7, [&] { self.leave(); });
    inside[1] = mix<float>(7, [] {});
  });
  auto const enter = [&] { pair.enter(); };
  EXPECT_EQ(mix<double>(1, enter), mix<double>(1, [] {}));
  EXPECT_EQ(mix<int64_t>(-3, enter), mix<int64_t>(-3, [] {}));
  EXPECT_TRUE(pair.finished());
  EXPECT_EQ(inside[0], inside[1]);
}

TEST(Switch, PreservedRegistersOfBothStacksSurvive) {
  static bool inside;
  Pair pair([](Pair& self) { inside = preserved(-1000, [&] { self.leave(); }); });
  EXPECT_TRUE(preserved(5000, [&] { pair.enter(); }));
  EXPECT_TRUE(preserved(7000, [&] { pair.enter(); }));
  EXPECT_TRUE(pair.finished());
  EXPECT_TRUE(inside);
}

TEST(Switch, ModesOfArithmeticOfBothStacksSurvive) {
  static int inside[2];
  Pair pair([](Pair& self) {
    inside[0] = std::fegetround();  // as where the stack was made
    std::fesetround(FE_DOWNWARD);
    self.leave();
    inside[1] = std::fegetround();
  });
  std::fesetround(FE_UPWARD);
  pair.enter();
  int const outside = std::fegetround();
  std::fesetround(FE_TONEAREST);
  pair.enter();
  EXPECT_EQ(outside, FE_UPWARD);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(inside[0], FE_TONEAREST);
  EXPECT_EQ(inside[1], FE_DOWNWARD);
}

TEST(Switch, AStackStartsAligned) {
  static uintptr_t plain, wide;
  Pair pair([](Pair&) {
    alignas(16) char volatile a[16] = {};
    alignas(64) char volatile b[64] = {};
    plain = reinterpret_cast<uintptr_t>(a);
    wide = reinterpret_cast<uintptr_t>(b);
  });
  pair.enter();
  EXPECT_EQ(plain % 16, 0u);
  EXPECT_EQ(wide % 64, 0u);
}

TEST(Switch, ExceptionsStayOnTheirStack) {
  static std::string caught;
  struct Thrower {
    static void nested(Pair& self, int depth) {
      if (depth == 0) throw std::runtime_error("inside");
      self.leave();
      nested(self, depth - 1);
    }
  };
  Pair pair([](Pair& self) {
    try {
      Thrower::nested(self, 3);
    } catch (std::exception const& error) {
      caught = error.what();
    }
  });
  for (int i = 0; i < 4; ++i) {
    try {
      pair.enter();
      throw std::runtime_error("outside");
    } catch (std::exception const& error) {
      EXPECT_STREQ(error.what(), "outside");
    }
  }
  EXPECT_TRUE(pair.finished());
  EXPECT_EQ(caught, "inside");
}

TEST(Switch, AWalkEndsWhereTheStackBegins) {
  static int frames;
  static _Unwind_Reason_Code reason;
  Pair pair([](Pair&) {
    auto const visit = [](_Unwind_Context*, void*) {
      return ++frames < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
    };
    reason = _Unwind_Backtrace(visit, nullptr);
  });
  pair.enter();
  EXPECT_EQ(reason, _URC_END_OF_STACK);
  EXPECT_GE(frames, 1);
  EXPECT_LE(frames, 10);  // this body, and what calls it on its own stack
}

TEST(Switch, MakesNoSystemCall) {
  static constexpr int kNoSeccomp = 77;
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Pair pair([](Pair& self) {
      for (;;) self.leave();
    });
    // from here on only read, write and exit: any other call kills the process
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(kNoSeccomp);
    for (int i = 0; i < 1000; ++i) pair.enter();
    syscall(SYS_exit, 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSeccomp) GTEST_SKIP() << "no seccomp here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Stacks, EachIsWhole) {
  fibre::Stacks stacks;
  stacks.reserve(3);
  for (int i = 0; i < 3; ++i) {
    char* const top = stacks.top(i);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(top) % 16, 0u);
    for (size_t at = 1; at <= fibre::Stacks::kBytes; ++at) top[-static_cast<ptrdiff_t>(at)] = 1;
  }
}

TEST(Stacks, WhatLiesBelowFaults) {
  auto const fault = ::testing::KilledBySignal(SIGSEGV);
  fibre::Stacks stacks;
  stacks.reserve(2);
  auto const guard = static_cast<ptrdiff_t>(fibre::Stacks::kGuardBytes);
  EXPECT_EQ(guard % sysconf(_SC_PAGESIZE), 0);
  for (int i = 0; i < 2; ++i) {
    char volatile* const bottom = stacks.top(i) - fibre::Stacks::kBytes;
    EXPECT_EXIT(bottom[-1] = 1, fault, "");
    EXPECT_EXIT(bottom[-guard] = 1, fault, "");
  }
  static void (*volatile deeper)(int);
  deeper = [](int n) {
    char volatile frame[1024];
    frame[0] = static_cast<char>(n);
    deeper(n + 1);
    frame[1] = frame[0];  // after the call, which is therefore none that could be a jump
  };
  EXPECT_EXIT(Pair([](Pair&) { deeper(0); }).enter(), fault, "");
}

TEST(Stacks, TheRefusedAreNotKept) {
  fibre::Stacks stacks;
  stacks.reserve(1);
  EXPECT_THROW(stacks.reserve(1 << 30), std::bad_alloc);  // more than the address space
  stacks.reserve(1);
  stacks.top(0)[-1] = 1;

  int64_t mappings = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
  if (mappings == 0 || mappings > 200000) GTEST_SKIP() << "a process may have " << mappings << " mappings";
  int const more = static_cast<int>(mappings / 2 + 1000);
  EXPECT_THROW(stacks.reserve(more), std::bad_alloc);
  EXPECT_THROW(stacks.reserve(more), std::bad_alloc);  // not: there already
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
