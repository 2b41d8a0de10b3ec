// cpu::launch: CTAs over threads, fibres, barriers, divergence, failures.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "testing.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

constexpr auto kCta = TopologyScope::cta;
constexpr auto kThread = TopologyScope::thread;

std::string failure(int64_t grid, void (*body)()) {
  try {
    launch(grid, 1024, body);
  } catch (std::exception const& error) {
    return error.what();
  }
  return "no error";
}

TEST(Launch, EveryInstanceRunsOnce) {
  for (int64_t grid : {0, 1, 3, 100}) {
    std::vector<std::atomic<int>> count(grid * kThreads);
    launch(grid, 0, [&] { ++count[program_id<kCta>() * kThreads + program_id<kThread>()]; });
    for (auto& c : count) EXPECT_EQ(c, 1);
    cpu::launch<false>(grid, kThreads, 0,
                       [&] { ++count[program_id<kCta>() * kThreads + program_id<kThread>()]; });
    for (auto& c : count) EXPECT_EQ(c, 2);
  }
}

TEST(Launch, BadGeometryIsRefused) {
  EXPECT_THROW(cpu::launch<true>(-1, 1, 0, [] {}), std::invalid_argument);
  EXPECT_THROW(cpu::launch<true>(1, 0, 0, [] {}), std::invalid_argument);
  EXPECT_THROW(cpu::launch<true>(1, 1025, 0, [] {}), std::invalid_argument);
  EXPECT_THROW(cpu::launch<true>(1, 1, -1, [] {}), std::invalid_argument);
}

TEST(Launch, SharedMemoryIsAlignedAndOfTheCta) {
  launch(20, 4 * kThreads, [] {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(cta_shared()) % 128, 0u);
    int* const shared = reinterpret_cast<int*>(cta_shared());
    int const t = program_id<kThread>(), cta = program_id<kCta>();
    shared[t] = 1000 * cta + t;
    ops::sync<SyncKind::cta>();
    EXPECT_EQ(shared[(t + 5) % kThreads], 1000 * cta + (t + 5) % kThreads);
  });
}

TEST(Launch, LocalsSurviveSwitches) {
  launch(1, 0, [] {
    double sum = program_id<kThread>();
    volatile float kept[64];
    for (int i = 0; i < 64; ++i) kept[i] = static_cast<float>(i + program_id<kThread>());
    for (int i = 0; i < 100; ++i) {
      ops::sync<SyncKind::cta>();
      sum += 0.5;
    }
    EXPECT_EQ(sum, program_id<kThread>() + 50.);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(kept[i], static_cast<float>(i + program_id<kThread>()));
  });
}

TEST(Launch, InstancesOfACtaRunInOrderBetweenBarriers) {
  std::vector<int> order;
  launch(1, 0, [&] {
    order.push_back(program_id<kThread>());
    ops::sync<SyncKind::cta>();
  });
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(order[i], i);
}

TEST(Launch, WithoutCollectivesItIsAPlainLoop) {
  std::vector<int> order;
  std::vector<void*> frames;
  char here = 0;
  cpu::launch<false>(1, kThreads, 0, [&] {
    char local = 0;
    order.push_back(program_id<kThread>());
    frames.push_back(&local);
    EXPECT_EQ(target::instance().fibres, nullptr);
  });
  ASSERT_EQ(order.size(), static_cast<size_t>(kThreads));
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(order[i], i);
    EXPECT_EQ(frames[i], frames[0]) << "a stack of its own";
  }
  auto const distance = reinterpret_cast<intptr_t>(&here) - reinterpret_cast<intptr_t>(frames[0]);
  EXPECT_LT(distance < 0 ? -distance : distance, 1 << 16) << "not the caller's stack";
}

TEST(Launch, AnyNumberOfWorkersGivesTheSameBits) {
  using Threads = Mesh<cute::Layout<Dims<kThreads>, Dims<1>>, kThread>;
  using Parts = ShardLayout<cute::Layout<Dims<kThreads, 5>, Dims<0, 1>>, cute::tuple<shard::S<0>>, Threads>;
  using Sum = ShardLayout<cute::Layout<Dims<1>, Dims<0>>, cute::tuple<shard::B>, Threads>;
  constexpr int ctas = 37;
  auto const sums = [&](char const* workers) {
    EXPECT_EQ(setenv("TILEFOUNDRY_NUM_THREADS", workers, 1), 0);
    std::vector<float> result(ctas);
    launch(ctas, 4 * kThreads, [&] {
      auto const workspace = shared_tensor<float>(cta_shared(), RowMajor<kThreads>{}, RowMajor<kThreads>{});
      auto x = register_tensor<float>(RowMajor<5 * kThreads>{}, Parts{});
      auto sum = register_tensor<float>(RowMajor<1>{}, Sum{});
      int const first = 5 * (program_id<kCta>() * kThreads + program_id<kThread>());
      for (int i = 0; i < 5; ++i) x.data()[i] = noise(first + i);
      ops::reduce<op::sum, Axes<0>>(x, sum, workspace);
      if (program_id<kThread>() == 0) result[program_id<kCta>()] = sum.data()[0];
    });
    EXPECT_EQ(unsetenv("TILEFOUNDRY_NUM_THREADS"), 0);
    return result;
  };
  auto const expected = sums("1");
  for (char const* workers : {"2", "3", "8", "8", "8"}) EXPECT_EQ(sums(workers), expected) << workers;
}

TEST(Sync, WarpsAndNamedBarriers) {
  launch(1, 4096, [] {
    int* const shared = reinterpret_cast<int*>(cta_shared());
    int const t = program_id<kThread>();
    shared[t] = t;
    ops::sync<SyncKind::warp>();
    EXPECT_EQ(shared[t ^ 31], t ^ 31);
    ops::sync<SyncKind::warp, 0, 0, 0x0000ffffu>();
    ops::sync<SyncKind::cta>();
    // Warps 1 and 2 meet twice; the others pass through.
    for (int round = 0; round < 2; ++round) {
      if (t >= 32 && t < 96) shared[t] = 100 * round + t;
      ops::sync<SyncKind::named, 32, 64, 0u, 3>();
      if (t >= 32 && t < 96) {
        EXPECT_EQ(shared[127 - t], 100 * round + 127 - t);
      }
      ops::sync<SyncKind::named, 32, 64, 0u, 4>();
    }
  });
}

TEST(Divergence, SomeFinishWhileOthersWait) {
  EXPECT_EQ(
      failure(3,
              [] {
                if (program_id<kCta>() == 1 && program_id<kThread>() >= 32) return;
                ops::sync<SyncKind::cta>();
              }),
      "barrier divergence in CTA 1: threads 0-31 wait at the CTA barrier, threads 32-127 have finished");
}

TEST(Divergence, TheLastToFinishReports) {
  EXPECT_EQ(failure(1,
                    [] {
                      if (program_id<kThread>() == 127) return;
                      ops::sync<SyncKind::cta>();
                    }),
            "barrier divergence in CTA 0: threads 0-126 wait at the CTA barrier, thread 127 has finished");
}

TEST(Divergence, DifferentBarriers) {
  EXPECT_EQ(
      failure(1,
              [] {
                if (program_id<kThread>() == 40) {
                  ops::sync<SyncKind::warp>();
                } else {
                  ops::sync<SyncKind::cta>();
                }
              }),
      "barrier divergence in CTA 0: threads 0-39 wait at the CTA barrier, thread 40 waits at a warp barrier, "
      "threads 41-127 wait at the CTA barrier");
}

TEST(Failure, NamesTheInstanceAndUnwindsTheOthers) {
  static std::atomic<int> alive;
  struct Counted {
    Counted() { ++alive; }
    ~Counted() { --alive; }
  };
  alive = 0;
  EXPECT_EQ(failure(1,
                    [] {
                      Counted counted;
                      ops::sync<SyncKind::cta>();
                      if (program_id<kThread>() == 77) throw std::runtime_error("broken");
                      ops::sync<SyncKind::cta>();
                    }),
            "instance (cta 0, thread 77): broken");
  EXPECT_EQ(alive, 0);
}

TEST(Failure, OfSeveralCtasTheFirstIsReported) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(failure(200,
                      [] {
                        if (program_id<kCta>() >= 17) throw std::runtime_error("broken");
                      }),
              "instance (cta 17, thread 0): broken");
  }
}

TEST(Failure, TheNextLaunchIsUnaffected) {
  EXPECT_NE(failure(4, [] { throw 1; }), "no error");
  EXPECT_EQ(failure(4, [] { ops::sync<SyncKind::cta>(); }), "no error");
}

TEST(Failure, HandlersMayWait) {
  static int wrong;
  wrong = 0;
  launch(1, 0, [] {
    std::string const mine = std::to_string(program_id<kThread>());
    try {
      try {
        throw std::runtime_error(mine);
      } catch (std::exception const&) {
        ops::sync<SyncKind::cta>();
        throw;  // what this instance handles, whatever others handle meanwhile
      }
    } catch (std::exception const& error) {
      wrong += error.what() != mine || std::uncaught_exceptions() != 0;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(Failure, CollectiveInAKernelDeclaredWithout) {
  EXPECT_THROW(cpu::launch<false>(1, kThreads, 0, [] { ops::sync<SyncKind::cta>(); }), std::runtime_error);
}

TEST(Launch, FromSeveralThreadsAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 25; ++n) {
        launch(7, 0, [&] {
          ops::sync<SyncKind::cta>();
          ++total;
        });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 25 * 7 * kThreads);
}

// As every third instance of kernels with barriers, kernels with barriers; `depth` of them within each other.
void launch_within(int depth, std::atomic<int>& ended) {
  auto const body = [&ended, depth] {
    int const cta = program_id<kCta>(), thread = program_id<kThread>();
    char* const mine = cta_shared() + thread;
    *mine = static_cast<char>(thread + depth);
    ops::sync<SyncKind::cta>();
    if (depth > 0 && thread % 3 == 0) launch_within(depth - 1, ended);
    EXPECT_TRUE(program_id<kCta>() == cta && program_id<kThread>() == thread &&
                cta_shared() + thread == mine);
    ops::sync<SyncKind::cta>();
    ended += *mine == static_cast<char>(thread + depth);
  };
  cpu::launch<true>(2, 4, 4, body);
}

TEST(Launch, FromAKernel) {
  std::atomic<int> ended{0};
  launch_within(2, ended);
  EXPECT_EQ(ended, 8 + 4 * 8 + 4 * 4 * 8);  // of the instances 0 to 3 of each of two CTAs, 0 and 3
}

TEST(Launch, ComputesAsItsCallerDoes) {
  ASSERT_EQ(setenv("TILEFOUNDRY_NUM_THREADS", "4", 1), 0);
  auto const rounding_is = [](int mode) {
    std::atomic<bool> all{true};
    launch(40, 0, [&] {
      if (program_id<kThread>() == 0) usleep(500);  // so that every thread gets a CTA
      if (std::fegetround() != mode) all = false;
    });
    return all.load();
  };
  EXPECT_TRUE(rounding_is(FE_TONEAREST));  // the threads of the pool exist
  std::fesetround(FE_UPWARD);
  bool const upward = rounding_is(FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(upward);
  ASSERT_EQ(unsetenv("TILEFOUNDRY_NUM_THREADS"), 0);
}

// Whether a launch in a forked child runs every instance.
bool launches_in_a_child(void (*end)(int) = _exit) {
  std::fflush(stdout);  // or the child's end prints it, too
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    std::atomic<int> count{0};
    launch(50, 0, [&] {
      ops::sync<SyncKind::cta>();
      ++count;
    });
    end(count == 50 * kThreads ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Launch, InAForkedChild) {
  ASSERT_EQ(setenv("TILEFOUNDRY_NUM_THREADS", "3", 1), 0);
  launch(8, 0, [] {});  // the pool's threads exist, and the child will not have them
  usleep(20000);        // they wait, and the child's end must not wait for them
  EXPECT_TRUE(launches_in_a_child());
  EXPECT_TRUE(launches_in_a_child(std::exit));
  ASSERT_EQ(unsetenv("TILEFOUNDRY_NUM_THREADS"), 0);
}

TEST(Launch, WhereThereAreNoMoreThreads) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "an emulator of another CPU needs the memory that is taken away here";
#endif
  auto const launches = [] {
    setenv("TILEFOUNDRY_NUM_THREADS", "4000", 1);
    rlimit const room{1 << 30, 1 << 30};  // for the stacks of about 100 threads
    setrlimit(RLIMIT_AS, &room);
    std::atomic<int> count{0};
    cpu::launch<false>(5000, 1, 0, [&] { ++count; });
    _exit(count == 5000 ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has no pool yet
  EXPECT_EXIT(launches(), ::testing::ExitedWithCode(0), "");
}

// At a fork the pool's mutex may be another thread's, which the child lacks.
TEST(Launch, InChildrenForkedAmongLaunches) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) launch(2, 0, [] {});
  });
  bool all = true;
  for (int k = 0; k < 200 && all; ++k) all = launches_in_a_child();
  done = true;
  other.join();
  EXPECT_TRUE(all);
}

TEST(Workers, TheVariableIsReadAndChecked) {
  ASSERT_EQ(setenv("TILEFOUNDRY_NUM_THREADS", "3", 1), 0);
  EXPECT_EQ(host::worker_count(), 3);
  for (char const* bad : {"0", "-1", "many", "4x", "5000"}) {
    ASSERT_EQ(setenv("TILEFOUNDRY_NUM_THREADS", bad, 1), 0);
    EXPECT_THROW(host::worker_count(), std::invalid_argument) << bad;
  }
  ASSERT_EQ(unsetenv("TILEFOUNDRY_NUM_THREADS"), 0);
  EXPECT_GE(host::worker_count(), 1);
}

TEST(Fibres, SwitchWithoutSystemCalls) {
  constexpr int kRounds = 2000;
  auto const start = std::chrono::steady_clock::now();
  launch(1, 0, [] {
    for (int i = 0; i < kRounds; ++i) ops::sync<SyncKind::cta>();
  });
  std::chrono::duration<double, std::nano> const spent = std::chrono::steady_clock::now() - start;
  // A figure for the log; machines differ too much for a bound that means something.
  RecordProperty("nanoseconds_per_switch", std::to_string(spent.count() / (kRounds * kThreads)));
  std::printf("%.1f ns per switch\n", spent.count() / (kRounds * kThreads));
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
