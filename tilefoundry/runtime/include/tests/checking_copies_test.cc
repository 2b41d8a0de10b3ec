// Checking mode, asynchronous copies: tiles that are read before their loads have landed, stages that are
// loaded again while they are read, and tiles that are written while a store still reads them.
#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Box = Shape<_4, Int<32>>;

std::string found(std::function<void(Arguments&)> const& body) { return finding(1, 2 * kBytes + 64, body); }

TEST(CheckingCopies, LoadsInFlight) {
  auto const kernel = [](Arguments& a, bool commit, bool wait) {
    Pipeline<1> pipe;
    auto const t = tile();
    ops::tile_load(make_tile_map<Box>(a.in()), make_coord(0, 0), t, pipe);
    if (commit) pipe.commit();
    if (wait) pipe.wait<0>();
    auto r = fragment("r");
    copy(view(t, Logical{}, InMemory{}), r);
    copy(r, a.spread(a.result()));
  };
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true, true); }), "");
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true, false); }),
            "access to a load in flight in copy: instance (cta 0, thread 0) reads 'tile'(0, 0), whose "
            "asynchronous load has not been waited for");
  // A load that no commit has closed is in no group that could be waited for.
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, false, true); }),
            "access to a load in flight in copy: instance (cta 0, thread 127) reads 'tile'(3, 31), whose "
            "asynchronous load has not been waited for");
}

/// A tile of T is loaded, and read after a barrier of the CTA that is no wait.
template <class T, bool Vector>
std::string barrier_for_wait(bool wait) {
  alignas(16) static T const source[4 * 32] = {};
  return found([=](Arguments& a) {
    GlobalArg<2> const arg{const_cast<T*>(source), {4, 32}, {32, 1}};
    auto const t = shared_tensor<T>(cta_shared(), Logical{}, Logical{}, "tile");
    Pipeline<1> pipe;
    ops::tile_load(make_tile_map<Box>(global_tensor<T, Vector>(arg, make_shape(_4{}, Int<32>{}))),
                   make_coord(0, 0), t, pipe);
    pipe.commit();
    if (wait) pipe.wait<0>();
    ops::sync<SyncKind::cta>();
    a.result().data()[thread()] = static_cast<float>(convert<float>(t.data()[thread()]));
  });
}

TEST(CheckingCopies, ABarrierIsNoWaitWhateverTheWidthOfTheCopies) {
  EXPECT_EQ((barrier_for_wait<float, true>(true)), "");
  EXPECT_EQ((barrier_for_wait<cute::half_t, true>(true)), "");
  EXPECT_EQ((barrier_for_wait<int8_t, false>(true)), "");
  std::string const finding =
      "access to a load in flight in the kernel's body: instance (cta 0, thread 127) reads 'tile'(3, 31), "
      "whose asynchronous load has not been waited for";
  EXPECT_EQ((barrier_for_wait<float, true>(false)), finding);
  EXPECT_EQ((barrier_for_wait<float, false>(false)), finding);
  EXPECT_EQ((barrier_for_wait<cute::half_t, true>(false)), finding);
  EXPECT_EQ((barrier_for_wait<cute::half_t, false>(false)), finding);
  EXPECT_EQ((barrier_for_wait<int8_t, false>(false)), finding);
}

TEST(CheckingCopies, WaitsForAllButTooManyGroups) {
  auto const last = [](Arguments& a, auto pending) {
    Pipeline<2> pipe;
    for (int i = 0; i < 2; ++i) {
      auto const t = shared_tensor<float>(cta_shared() + i * kBytes, Logical{}, Logical{}, i ? "t1" : "t0");
      ops::tile_load(make_tile_map<Box>(a.in()), make_coord(0, 0), t, pipe);
      pipe.commit();
    }
    pipe.wait<decltype(pending)::value>();
    auto const t1 = shared_tensor<float>(cta_shared() + kBytes, Logical{}, Logical{}, "t1");
    copy(view(t1, Logical{}, InMemory{}), a.spread(a.result()));
  };
  EXPECT_EQ(found([&](Arguments& a) { last(a, _0{}); }), "");
  EXPECT_EQ(found([&](Arguments& a) { last(a, _1{}); }),
            "access to a load in flight in copy: instance (cta 0, thread 127) reads 't1'(3, 31), whose "
            "asynchronous load has not been waited for");
}

TEST(CheckingCopies, StagesAreReleasedBeforeTheyAreLoadedAgain) {
  auto const kernel = [](Arguments& a, bool release) {
    Pipeline<1> pipe;
    auto const t = tile();
    for (int i = 0; i < 2; ++i) {
      pipe.acquire();
      ops::tile_load(make_tile_map<Box>(a.in()), make_coord(i, 0), t, pipe);
      pipe.commit();
      pipe.wait<0>();
      auto mirrored = fragment("mirrored");
      copy(mirror_image(t), mirrored);
      copy(mirrored, a.spread(a.result()));
      if (release) pipe.release();
    }
  };
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true); }), "");
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, false); }),
            "race in copy: instance (cta 0, thread 16) reads 'tile'(0, 15), which instance (cta 0, thread "
            "15) writes, and no barrier lies between the two");
}

// From one warp to the three others.
using Producer = ThreadSlice<0, 32>;
using Consumer = ThreadSlice<32, 96>;
using Pipe = Pipeline<2, Producer, Consumer>;

auto stage(int i) {
  return shared_tensor<float>(cta_shared() + i * kBytes, Logical{}, Logical{}, i ? "second" : "first");
}

void produce(Arguments& a, Pipe& pipe, int row) {
  ops::tile_load(make_tile_map<Box>(a.in()), make_coord(row, 0), stage(pipe.loading()), pipe);
  pipe.commit();
}

/// Warp 0 loads `tiles` tiles into two stages, the others read them.
std::string piped(int tiles, bool acquire, bool wait) {
  return found([=](Arguments& a) {
    Pipe pipe(cta_shared() + 2 * kBytes);
    if (Producer::contains()) {
      for (int n = 0; n < tiles; ++n) {
        if (acquire) pipe.acquire();
        produce(a, pipe, n);
      }
    }
    float sum = 0;
    if (Consumer::contains()) {
      for (int n = 0; n < tiles; ++n) {
        if (wait) pipe.wait();
        auto const data = stage(wait ? pipe.reading() : n % 2).data();
        for (int i = 0; i < 128; ++i) sum += data[i];
        pipe.release();
      }
    }
    pipe.drain();
    a.result().data()[thread()] = sum;
  });
}

TEST(CheckingCopies, StagesOrderProducersAndConsumers) {
  EXPECT_EQ(piped(1, true, true), "");
  EXPECT_EQ(piped(7, true, true), "");
  EXPECT_EQ(piped(1, true, false),
            "uninitialised read in the kernel's body: instance (cta 0, thread 127) reads 'first'(0, 0), "
            "which nobody "
            "has written before it; without a barrier, others write later");
  EXPECT_EQ(piped(5, false, true),
            "race in tile_load: instance (cta 0, thread 0) writes 'first'(0, 0), which instance (cta 0, "
            "thread 127) "
            "reads, and no barrier lies between the two");
}

/// Warp 0 loads a tile by a pipeline whose barriers lie from `byte` on.
/// @param reuse where the second tile has been before, and is afterwards; 2: with a barrier of the CTA before
std::string barriers_at(int byte, int reuse = 0) {
  return found([=](Arguments& a) {
    ops::sync<SyncKind::cta>();  // after which the last instance goes first
    if (reuse) stage(1).data()[127 - thread()] = 1.f;
    if (reuse == 2) ops::sync<SyncKind::cta>();
    Pipe pipe(cta_shared() + byte);
    if (Producer::contains()) produce(a, pipe, 0);
    if (Consumer::contains()) {
      pipe.wait();
      pipe.release();
    }
    pipe.drain();
    ops::sync<SyncKind::cta>();
    if (reuse) stage(1).data()[thread()] = 2.f;
    a.result().data()[thread()] = 0.f;
  });
}

TEST(CheckingCopies, BarriersHaveMemoryOfTheirOwn) {
  std::string const out_of_bounds =
      "out of bounds: instance (cta 0, thread 0) makes a barrier of a pipeline at byte ";
  std::string const of =
      " of the 1088 bytes of shared memory that the CTA was launched with; it takes 8, at a "
      "multiple of 8";
  EXPECT_EQ(barriers_at(2 * kBytes), "");
  EXPECT_EQ(barriers_at(16),
            "access to a barrier in tile_load: instance (cta 0, thread 4) writes 'first'(0, 4), where a "
            "barrier of a pipeline lies");
  EXPECT_EQ(barriers_at(4), out_of_bounds + "4" + of);
  EXPECT_EQ(barriers_at(1 << 20), out_of_bounds + "1048576" + of);
  EXPECT_EQ(barriers_at(kBytes, 2), "");
  EXPECT_EQ(barriers_at(kBytes, 1),
            "race: instance (cta 0, thread 0) makes a barrier of a pipeline of the memory of 'second'(0, 0), "
            "which instance (cta 0, thread 127) writes, and no barrier lies between the two");
}

TEST(CheckingCopies, AStageIsLoadedAgainWhileItIsRead) {
  // The second load of a stage comes after its wait, and perhaps not after its release.
  auto const kernel = [](Arguments& a, bool acquire) {
    using Single = Pipeline<1, Producer, Consumer>;
    Single pipe(cta_shared() + kBytes);
    auto const load = [&] {
      ops::tile_load(make_tile_map<Box>(a.in()), make_coord(0, 0), tile(), pipe);
      pipe.commit();
    };
    float sum = 0;
    if (Producer::contains()) {
      pipe.acquire();
      load();
    } else {
      pipe.wait();
    }
    ops::sync<SyncKind::cta>();
    if (Producer::contains()) {
      if (acquire) pipe.acquire();
      load();
    } else {
      sum = tile().data()[thread()];
      pipe.release();
      pipe.wait();
      pipe.release();
    }
    pipe.drain();
    a.result().data()[thread()] = sum;
  };
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true); }), "");
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, false); }),
            "race in tile_load: instance (cta 0, thread 31) writes 'tile'(3, 31), which instance (cta 0, "
            "thread 127) "
            "reads, and no barrier lies between the two");
}

TEST(CheckingCopies, ProducersHaveToWaitAsWell) {
  using Whole = ThreadSlice<0, 128>;
  auto const kernel = [](Arguments& a, bool wait) {
    Pipeline<1, Whole, Whole> pipe(cta_shared() + kBytes);
    auto const t = tile();
    pipe.acquire();
    ops::tile_load(make_tile_map<Box>(a.in()), make_coord(0, 0), t, pipe);
    pipe.commit();
    if (wait) pipe.wait();
    // its own share of the copies, where there are no bulk ones
    copy(view(t, Logical{}, InMemory{}), a.spread(a.result()));
    if (!wait) pipe.wait();
    pipe.release();
    pipe.drain();
  };
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true); }), "");
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, false); }),
            "access to a load in flight in copy: instance (cta 0, thread 31) reads 'tile'(0, 31), whose "
            "asynchronous load has not been waited for");
}

TEST(CheckingCopies, OthersWaitAndIDoNot) {
  // Warp 1 waits for the stage; warp 2 goes on.
  auto const kernel = [](Arguments& a, bool wait) {
    Pipe pipe(cta_shared() + 2 * kBytes);
    if (Producer::contains()) {
      pipe.acquire();
      produce(a, pipe, 0);
    } else if (wait || thread() < 64) {
      pipe.wait();
    }
    float value = 0;
    if (thread() >= 64) {
      ops::sync<SyncKind::named, 64, 64, 0, 2>();
      value = stage(0).data()[thread()];
    }
    ops::sync<SyncKind::cta>();
    if (!Producer::contains()) pipe.release();
    pipe.drain();
    a.result().data()[thread()] = value;
  };
  EXPECT_EQ(found([&](Arguments& a) { kernel(a, true); }), "");
  EXPECT_EQ(
      found([&](Arguments& a) { kernel(a, false); }),
      "access to a load in flight in the kernel's body: instance (cta 0, thread 126) reads 'first'(3, 30), "
      "whose asynchronous load has not been waited for");
}

TEST(CheckingCopies, LoadsThatNobodyWaitsFor) {
  EXPECT_EQ(found([](Arguments& a) {
              Pipe pipe(cta_shared() + 2 * kBytes);
              if (Producer::contains()) produce(a, pipe, 0);
              a.result().data()[thread()] = 0.f;
            }),
            "access to a load in flight: CTA 0 ends, and nobody has waited for the asynchronous load of "
            "'first'(0, 0)");
}

/// A tile is filled, stored, and written again.
std::string stored(bool barrier, bool wait, bool again, int writer = -1) {
  return found([=](Arguments& a) {
    auto const t = tile();
    auto const mine = view(t, Logical{}, InMemory{});
    ops::fill(mine, 1.f);
    if (barrier) ops::sync<SyncKind::cta>();
    ops::tile_store_issue(make_tile_map<Box>(a.result()), make_coord(0, 0), t);
    if (wait) ops::tile_store_wait();
    if (again) ops::sync<SyncKind::cta>();
    if (writer < 0 || thread() == writer) ops::fill(mine, 2.f);
    if (!wait) ops::tile_store_wait();
  });
}

TEST(CheckingCopies, TilesAreStoredBeforeTheyAreWrittenAgain) {
  EXPECT_EQ(stored(true, true, true), "");
  // The instance that has started the store does not wait for it, though all meet.
  std::string const early =
      "access to a store in flight in fill: instance (cta 0, thread 126) writes 'tile'(3, 30), which an "
      "asynchronous store reads that has not been waited for";
  EXPECT_EQ(stored(true, false, true), early);
  // Its own element, too.
  std::string const own = stored(true, false, true, 0);
  EXPECT_NE(own.find("in flight in fill: instance (cta 0, thread 0) writes 'tile'(0, 0)"), std::string::npos)
      << own;
  // It waits, and the others do not learn of it.
  EXPECT_EQ(stored(true, true, false, 5),
            "race in fill: instance (cta 0, thread 5) writes 'tile'(0, 5), which instance (cta 0, thread 0) "
            "reads, and no barrier lies between the two");
}

TEST(CheckingCopies, TilesAreVisibleBeforeTheyAreStored) {
  // Each instance copies what it has written itself; a bulk copy is one instance's.
  EXPECT_EQ(
      stored(false, true, true),
      "uninitialised read in tile_store: instance (cta 0, thread 0) reads 'tile'(0, 1), which nobody has "
      "written before it; without a barrier, others write later");
  EXPECT_EQ(
      found([](Arguments& a) {
        ops::fill(view(tile(), Logical{}, InMemory{}), 1.f);
        ops::tile_store(make_tile_map<Box>(a.result()), make_coord(0, 0), tile());
      }),
      "uninitialised read in tile_store: instance (cta 0, thread 0) reads 'tile'(0, 1), which nobody has "
      "written before it; without a barrier, others write later");
}

TEST(CheckingCopies, AStoreThatIsNotWaitedForOutlivesItsCta) {
  EXPECT_EQ(found([](Arguments& a) {
              ops::fill(view(tile(), Logical{}, InMemory{}), 1.f);
              ops::sync<SyncKind::cta>();
              ops::tile_store_issue(make_tile_map<Box>(a.result()), make_coord(0, 0), tile());
            }),
            "access to a store in flight: instance (cta 0, thread 0) ends, and has not waited for its "
            "asynchronous store of 'tile'(0, 0)");
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
