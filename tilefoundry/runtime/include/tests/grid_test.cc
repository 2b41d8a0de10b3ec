// cpu::launch_resident: CTAs that meet at barriers of the grid.
#include <atomic>
#include <string>

#include "testing.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

constexpr auto kCta = TopologyScope::cta;
constexpr auto kThread = TopologyScope::thread;

template <class Body>
std::string failure(int64_t grid, int threads, int shared_bytes, Body const& body) {
  try {
    cpu::launch_resident(grid, threads, shared_bytes, body);
  } catch (std::exception const& error) {
    return error.what();
  }
  return "no error";
}

TEST(Grid, EveryoneSeesWhatAllWroteBefore) {
  for (int64_t grid : {0, 1, 2, 7, 40}) {
    for (int threads : {1, 32, 100}) {
      std::vector<int> values(grid * threads), wrong(grid * threads);
      cpu::launch_resident(grid, threads, 0, [&] {
        int const me = program_id<kCta>() * threads + program_id<kThread>();
        int const size = static_cast<int>(grid) * threads;
        for (int round = 0; round < 20; ++round) {
          values[me] = 1000 * round + me;
          ops::sync<SyncKind::grid>();
          int const other = (me + 17 * round + 1) % size;
          wrong[me] += values[other] != 1000 * round + other;
          ops::sync<SyncKind::grid>();
        }
      });
      for (int w : wrong) EXPECT_EQ(w, 0) << grid << " x " << threads;
    }
  }
}

TEST(Grid, BarriersOfCtasAndOfTheGridMix) {
  std::vector<int> seen(5);
  cpu::launch_resident(5, 64, 256, [&] {
    int* const shared = reinterpret_cast<int*>(cta_shared());
    int const t = program_id<kThread>(), cta = program_id<kCta>();
    shared[t] = 100 * cta + t;
    ops::sync<SyncKind::grid>();
    if (shared[63 - t] == 100 * cta + 63 - t) {
      ops::sync<SyncKind::warp>();
    }
    ops::sync<SyncKind::cta>();
    if (t == 0) seen[cta] = shared[63];  // each CTA has shared memory of its own
    ops::sync<SyncKind::grid>();
  });
  for (int cta = 0; cta < 5; ++cta) EXPECT_EQ(seen[cta], 100 * cta + 63);
}

TEST(Grid, CtasThatLeaveWhileOthersWaitAreReported) {
  EXPECT_EQ(failure(4, 32, 0,
                    [] {
                      if (program_id<kCta>() != 2) ops::sync<SyncKind::grid>();
                    }),
            "barrier divergence in the grid: CTA 0 waits at the grid barrier, CTA 2 has finished");
}

TEST(Grid, ThreadsThatLeaveAreReportedByTheirCta) {
  EXPECT_EQ(
      failure(3, 32, 0,
              [] {
                if (program_id<kCta>() == 1 && program_id<kThread>() == 5) return;
                ops::sync<SyncKind::grid>();
              }),
      "barrier divergence in CTA 1: threads 0-4 wait at the grid barrier, thread 5 has finished, threads "
      "6-31 wait at the grid barrier");
}

struct Counted {
  static inline std::atomic<int> alive{0};
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

TEST(Grid, TheFirstErrorIsReportedAndAllOthersAreUnwound) {
  for (int64_t grid : {1, 3, 50}) {
    std::string const text = failure(grid, 40, 0, [grid] {
      Counted const counted;
      ops::sync<SyncKind::grid>();
      if (program_id<kCta>() >= grid / 2 && program_id<kThread>() == 7) throw std::runtime_error("no");
      ops::sync<SyncKind::grid>();
    });
    EXPECT_EQ(text, "instance (cta " + std::to_string(grid / 2) + ", thread 7): no");
    EXPECT_EQ(Counted::alive, 0);
  }
}

TEST(Grid, AGridThatIsTooLargeIsRefusedWithTheFigure) {
  EXPECT_EQ(
      failure(1000, 128, 1024, [] {}),
      "a grid of 1000 CTAs of 128 threads that meet at barriers takes 32000 MiB of stacks and shared memory, "
      "above the limit of 6144 MiB; launch fewer CTAs");
  EXPECT_EQ(failure(132, 128, 4096, [] { ops::sync<SyncKind::grid>(); }), "no error");
  EXPECT_THROW(cpu::launch_resident(-1, 1, 0, [] {}), std::invalid_argument);
}

TEST(Grid, ABarrierOfTheGridNeedsAResidentLaunch) {
  for (int threads : {1, 32}) {
    EXPECT_THROW(cpu::launch<true>(2, threads, 0, [] { ops::sync<SyncKind::grid>(); }), std::exception);
  }
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
