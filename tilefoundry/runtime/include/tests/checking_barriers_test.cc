// Checking mode, barriers that some do not come to: each ends its launch, and tells who waits where.
#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

std::string found(std::function<void(Arguments&)> const& body) { return finding(1, 2 * kBytes, body); }

TEST(CheckingBarriers, OfTheCta) {
  EXPECT_EQ(
      found([](Arguments&) {
        if (thread() < 64) ops::sync<SyncKind::cta>();
      }),
      "barrier divergence in CTA 0: threads 0-63 wait at the CTA barrier, threads 64-127 have finished");
  EXPECT_EQ(found([](Arguments&) {
              for (int i = 0; i < (thread() == 3 ? 2 : 1); ++i) ops::sync<SyncKind::cta>();
            }),
            "barrier divergence in CTA 0: threads 0-2 have finished, thread 3 waits at the CTA barrier, "
            "threads 4-127 "
            "have finished");
}

TEST(CheckingBarriers, OfAWarp) {
  EXPECT_EQ(found([](Arguments&) {
              if (thread() % 32 < 16 || thread() >= 32) ops::sync<SyncKind::warp>();
            }),
            "barrier divergence in CTA 0: threads 0-15 wait at a warp barrier, threads 16-127 have finished");
}

TEST(CheckingBarriers, Named) {
  EXPECT_EQ(found([](Arguments&) {
              if (thread() < 96) {
                ops::sync<SyncKind::named, 0, 128, 0, 3>();
              } else {
                ops::sync<SyncKind::named, 0, 128, 0, 4>();
              }
            }),
            "barrier divergence in CTA 0: threads 0-95 wait at named barrier 3, threads 96-127 wait at named "
            "barrier "
            "4");
}

TEST(CheckingBarriers, NamedMisused) {
  auto const groups = [](Arguments& a, bool apart) {
    a.result().data()[thread()] = 0.f;
    ops::sync<SyncKind::named, 0, 64, 0, 1>();
    if (apart) ops::sync<SyncKind::cta>();
    ops::sync<SyncKind::named, 64, 64, 0, 1>();
    ops::sync<SyncKind::named, 64, 64, 0, 1>();
  };
  EXPECT_EQ(found([&](Arguments& a) { groups(a, true); }), "");
  EXPECT_EQ(found([&](Arguments& a) { groups(a, false); }),
            "barrier misuse in the kernel's body: instance (cta 0, thread 64) arrives at named barrier 1, at "
            "which instance (cta 0, thread 63) has met others, and no barrier lies between the two");
  EXPECT_EQ(found([](Arguments&) {
              if (thread() < 32) ops::sync<SyncKind::named, 0, 64, 0, 1>();
              if (thread() >= 32) ops::sync<SyncKind::named, 0, 96, 0, 1>();
            }),
            "barrier misuse in the kernel's body: instance (cta 0, thread 32) arrives at named barrier 1 of "
            "96 instances, at which instance (cta 0, thread 0) waits for 64");
}

TEST(CheckingBarriers, InsideOfAnOp) {
  auto const sums = [](Arguments& a, bool all) {
    auto r = fragment("r");
    copy(a.spread(a.in()), r);
    using Sum = RowMajor<1, 1>;
    using All =
        ShardLayout<cute::Layout<Shape<_1, _1>, Stride<_0, _0>>, cute::tuple<shard::B, shard::B>, ThreadMesh>;
    auto sum = register_tensor<float>(Sum{}, All{}, "sum");
    auto const workspace = shared_tensor<float>(cta_shared(), RowMajor<128>{}, RowMajor<128>{}, "workspace");
    if (all || thread() < 96) ops::reduce<op::sum, Axes<0, 1>>(r, sum, workspace);
    a.result().data()[thread()] = all ? static_cast<float>(sum.data()[0]) : 0.f;
  };
  EXPECT_EQ(found([&](Arguments& a) { sums(a, true); }), "");
  EXPECT_EQ(
      found([&](Arguments& a) { sums(a, false); }),
      "barrier divergence in CTA 0: threads 0-95 wait at the CTA barrier in reduce, threads 96-127 have "
      "finished");
}

TEST(CheckingBarriers, OfAStage) {
  using Producer = ThreadSlice<0, 32>;
  using Consumer = ThreadSlice<32, 96>;
  auto const piped = [](Arguments& a, int loads) {
    Pipeline<1, Producer, Consumer> pipe(cta_shared() + kBytes);
    for (int i = 0; Producer::contains() && i < loads; ++i) {
      pipe.acquire();
      ops::tile_load(make_tile_map<Shape<_4, Int<32>>>(a.in()), make_coord(0, 0), tile(), pipe);
      pipe.commit();
    }
    if (Consumer::contains()) {
      pipe.wait();
      pipe.release();
    }
    pipe.drain();
    a.result().data()[thread()] = 0.f;
  };
  EXPECT_EQ(found([&](Arguments& a) { piped(a, 1); }), "");
  EXPECT_EQ(found([&](Arguments& a) { piped(a, 0); }),
            "barrier divergence in CTA 0: threads 0-31 wait at the CTA barrier, threads 32-127 wait at a "
            "stage of a "
            "pipeline");
}

TEST(CheckingBarriers, OfTheGrid) {
  auto const resident = [](std::function<void()> const& body) {
    return finding_of([&](Arguments&) { cpu::launch_resident(3, kThreads, kBytes, body); });
  };
  EXPECT_EQ(resident([] {
              if (program_id<TopologyScope::cta>() == 1) return;
              ops::sync<SyncKind::grid>();
            }),
            "barrier divergence in the grid: CTA 0 waits at the grid barrier, CTA 1 has finished");
  EXPECT_EQ(resident([] {
              if (program_id<TopologyScope::cta>() == 2 && thread() == 5) return;
              ops::sync<SyncKind::grid>();
            }),
            "barrier divergence in CTA 2: threads 0-4 wait at the grid barrier, thread 5 has finished, "
            "threads 6-127 "
            "wait at the grid barrier");
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
