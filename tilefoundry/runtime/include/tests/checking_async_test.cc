// Checking mode: what touches an asynchronous copy before it has been waited for is found, and what waits is
// not.
#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_32;

auto mine() { return view(tile(), Logical{}, InMemory{}); }

/// x through a tile to the output.
template <class Between>
void staged(Arguments& a, Between const& between) {
  auto r = fragment("r");
  ops::copy_async(a.spread(a.in()), mine());
  between();
  copy(mine(), r);
  copy(r, a.spread(a.result()));
}

TEST(CheckingAsync, WhatIsWaitedForReportsNothing) {
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      staged(a, [] {
                        ops::cp_async_commit();
                        ops::cp_async_wait<0>();
                      });
                    }),
            "");
  // Two groups, of which the older one is read while the newer one flies.
  EXPECT_EQ(finding(1, 2 * kBytes,
                    [](Arguments& a) {
                      auto next =
                          view(shared_tensor<float>(cta_shared() + kBytes, Logical{}, Logical{}, "next"),
                               Logical{}, InMemory{});
                      staged(a, [&] {
                        ops::cp_async_commit();
                        ops::copy_async(a.spread(a.in()), next);
                        ops::cp_async_commit();
                        ops::cp_async_wait<1>();
                      });
                    }),
            "");
  // Others read it after a barrier.
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      ops::copy_async(a.spread(a.in()), mine());
                      ops::cp_async_commit();
                      ops::cp_async_wait<0>();
                      ops::sync<SyncKind::cta>();
                      a.result().data()[thread()] = tile().data()[127 - thread()];
                    }),
            "");
}

TEST(CheckingAsync, ReadsBeforeTheWait) {
  std::string const found =
      "access to a load in flight in copy: instance (cta 0, thread 0) reads 'tile'(0, 0), whose asynchronous "
      "load has not been waited for";
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { staged(a, [] {}); }), found);
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { staged(a, [] { ops::cp_async_commit(); }); }), found);
  // Without a commit there is no group to wait for; with too many in flight, it is not among those waited
  // for.
  EXPECT_EQ(finding(1, kBytes, [](Arguments& a) { staged(a, [] { ops::cp_async_wait<0>(); }); }), found);
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      staged(a, [] {
                        ops::cp_async_commit();
                        ops::cp_async_wait<1>();
                      });
                    }),
            found);
  // A barrier is no wait.
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      staged(a, [] {
                        ops::cp_async_commit();
                        ops::sync<SyncKind::cta>();
                      });
                    }),
            "access to a load in flight in copy: instance (cta 0, thread 127) reads 'tile'(3, 31), whose "
            "asynchronous load has not been waited for");
}

TEST(CheckingAsync, AWaitIsNoBarrier) {
  EXPECT_EQ(
      finding(1, kBytes,
              [](Arguments& a) {
                ops::copy_async(a.spread(a.in()), mine());
                ops::cp_async_commit();
                ops::cp_async_wait<0>();
                if (thread() == 1) a.result().data()[0] = tile().data()[0];
              }),
      "race in the kernel's body: instance (cta 0, thread 1) reads 'tile'(0, 0), which instance (cta 0, "
      "thread 0) writes, and no barrier lies between the two");
}

TEST(CheckingAsync, WritesToTheTileBeforeTheWait) {
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      ops::copy_async(a.spread(a.in()), mine());
                      ops::fill(mine(), 1.f);
                    }),
            "access to a load in flight in fill: instance (cta 0, thread 0) writes 'tile'(0, 0), whose "
            "asynchronous load has not been waited for");
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      ops::fill(a.spread(a.result()), 1.f);
                      ops::copy_async(a.spread(a.in()), mine());
                      ops::copy_async(a.spread(a.result()), mine());
                    }),
            "access to a load in flight in copy_async: instance (cta 0, thread 0) writes 'tile'(0, 0), whose "
            "asynchronous load has not been waited for");
}

TEST(CheckingAsync, WritesToTheSourceBeforeTheWait) {
  auto const overwritten = [](Arguments& a, auto const& between) {
    ops::fill(a.spread(a.result()), 1.f);
    ops::copy_async(a.spread(a.result()), mine());
    between();
    ops::fill(a.spread(a.result()), 2.f);
  };
  std::string const found =
      "access to a load in flight in fill: instance (cta 0, thread 0) writes 'out'(0, 0), which an "
      "asynchronous "
      "load reads that has not been waited for";
  EXPECT_EQ(finding(1, kBytes, [&](Arguments& a) { overwritten(a, [] {}); }), found);
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      overwritten(a, [] {
                        ops::cp_async_commit();
                        ops::cp_async_wait<1>();
                      });
                    }),
            found);
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      overwritten(a, [] {
                        ops::cp_async_commit();
                        ops::cp_async_wait<0>();
                      });
                    }),
            "");
  // Another instance, which a barrier has ordered behind the start of the copy, not behind its end.
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      ops::fill(a.spread(a.result()), 1.f);
                      ops::copy_async(a.spread(a.result()), mine());
                      ops::sync<SyncKind::cta>();
                      if (thread() == 5) a.result().data()[0] = 2.f;
                    }),
            "access to a load in flight in the kernel's body: instance (cta 0, thread 5) writes 'out'(0, 0), "
            "which an asynchronous load reads that has not been waited for");
}

TEST(CheckingAsync, WhatFliesWhenAKernelEndsHasLanded) {
  EXPECT_EQ(finding_of([](Arguments& a) {
              launch(1, kBytes, [&] {
                ops::fill(a.spread(a.result()), 1.f);
                ops::copy_async(a.spread(a.result()), mine());
              });
              launch(1, 0, [&] { ops::fill(a.spread(a.result()), 2.f); });
            }),
            "");
}

TEST(CheckingAsync, ReplicasCopyTheSameValues) {
  // Every warp copies all four rows into one tile, and reads what it copied.
  using Shared = ShardLayout<cute::Layout<Shape<_4, Int<32>>, Stride<Int<32>, _1>>,
                             cute::tuple<shard::B, shard::S<1>>, ThreadMesh>;
  using Held = ShardLayout<cute::Layout<Shape<_4, Int<32>>, Stride<_1, _0>>,
                           cute::tuple<shard::B, shard::S<1>>, ThreadMesh>;
  auto const kernel = [](Arguments& a, auto const& between) {
    auto const all = view(tile(), Logical{}, Shared{});
    auto r = register_tensor<float>(Logical{}, Held{}, "r");
    ops::copy_async(view(a.in(), Logical{}, Shared{}), all);
    ops::cp_async_commit();
    between();
    copy(all, r);
    auto out = view(a.result(), Logical{}, Shared{});
    copy(r, out);
    copy(all, r);
  };
  EXPECT_EQ(finding(1, kBytes, [&](Arguments& a) { kernel(a, [] { ops::cp_async_wait<0>(); }); }), "");
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      kernel(a, [] {
                        ops::sync<SyncKind::cta>();
                        ops::cp_async_wait<0>();
                      });
                    }),
            "");
  // Warp 0 has waited, the others have not: what warp 0 writes, they overwrite.
  EXPECT_EQ(finding(1, kBytes,
                    [&](Arguments& a) {
                      kernel(a, [&] {
                        if (thread() >= 32) return ops::sync<SyncKind::cta>();
                        ops::cp_async_wait<0>();
                        ops::sync<SyncKind::cta>();
                        tile().data()[thread()] = 5.f;
                      });
                    }),
            "access to a load in flight in the kernel's body: instance (cta 0, thread 0) writes 'tile'(0, "
            "0), whose "
            "asynchronous load has not been waited for");
}

TEST(CheckingAsync, OtherDirectionsAreOverAtOnce) {
  EXPECT_EQ(finding(1, kBytes,
                    [](Arguments& a) {
                      auto r = fragment("r");
                      ops::copy_async(a.spread(a.in()), r);
                      ops::copy_async(r, mine());
                      ops::copy_async(mine(), r);
                      ops::copy_async(r, a.spread(a.result()));
                    }),
            "");
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
