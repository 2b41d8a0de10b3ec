// Checking mode, between CTAs and between slices: grid barriers, atomic additions, stages of pipelines.
#include "checking.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// What the resident launch of two CTAs finds.
std::string resident(std::function<void(Arguments&)> const& body) {
  return finding_of([&](Arguments& a) { cpu::launch_resident(2, kThreads, kBytes, [&] { body(a); }); });
}

int cta() { return program_id<TopologyScope::cta>(); }

TEST(CheckingOrder, AGridBarrierOrdersCtas) {
  auto const passed_on = [](Arguments& a, bool meet) {
    auto r = fragment("r");
    copy(a.spread(a.in()), r);
    if (cta() == 1) ops::fill(a.spread(a.result()), 1.f);
    ops::sync<SyncKind::grid>();
    if (!meet && cta() == 1) ops::fill(a.spread(a.result()), 2.f);
    if (cta() == 0) copy(a.spread(a.result()), r);
  };
  EXPECT_EQ(resident([&](Arguments& a) { passed_on(a, true); }), "");
  EXPECT_EQ(
      resident([&](Arguments& a) { passed_on(a, false); }),
      "race in fill: instance (cta 1, thread 127) writes 'out'(3, 31), which instance (cta 0, thread 127) "
      "reads, and no barrier lies between the two");
}

TEST(CheckingOrder, AGridBarrierOrdersWithinACta) {
  EXPECT_EQ(resident([](Arguments& a) {
              tile().data()[thread()] = 1.f;
              ops::sync<SyncKind::grid>();
              a.result().data()[thread()] = tile().data()[127 - thread()];
            }),
            "");
}

TEST(CheckingOrder, AdditionsNeedNoOrderAndReadersDo) {
  auto const sums = [](Arguments& a, bool read, bool write) {
    if (cta() == 0) ops::fill(a.spread(a.result()), 0.f);
    ops::sync<SyncKind::grid>();
    for (int i = 0; i < 4; ++i)
      target::atomic_add(cute::raw_pointer_cast(a.result().data()) + 32 * i + thread() % 32, 1.f);
    if (read && thread() == 0) a.result().data()[0] = a.result().data()[1] + 1.f;
    if (write && cta() == 1 && thread() == 5) a.result().data()[7] = 3.f;
  };
  EXPECT_EQ(resident([&](Arguments& a) { sums(a, false, false); }), "");
  std::string const read = resident([&](Arguments& a) { sums(a, true, false); });
  EXPECT_NE(read.find("race in the kernel's body"), std::string::npos) << read;
  std::string const written = resident([&](Arguments& a) { sums(a, false, true); });
  EXPECT_NE(
      written.find("conflicting writes in the kernel's body: instance (cta 1, thread 5) writes 'out'(0, 7)"),
      std::string::npos)
      << written;
  EXPECT_EQ(
      resident([](Arguments& a) { target::atomic_add(cute::raw_pointer_cast(a.result().data()), 1.f); }),
      "uninitialised read in the kernel's body: instance (cta 0, thread 0) reads 'out'(0, 0), which "
      "nobody has "
      "written");
}

/// Warp 0 loads `tiles` tiles into two stages, the others read them.
void piped(Arguments& a, int tiles, bool acquire, bool wait) {
  using Producer = ThreadSlice<0, 32>;
  using Consumer = ThreadSlice<32, 96>;
  using Pipe = Pipeline<2, Producer, Consumer>;
  using Box = Shape<_4, Int<32>>;
  Pipe pipe(cta_shared() + 2 * kBytes);
  auto const stage = [](int i) {
    return shared_tensor<float>(cta_shared() + i * kBytes, Logical{}, Logical{}, i ? "second" : "first");
  };
  if (Producer::contains()) {
    for (int n = 0; n < tiles; ++n) {
      if (acquire) pipe.acquire();
      ops::tile_load(make_tile_map<Box>(a.in()), make_coord(n, 0), stage(pipe.loading()), pipe);
      pipe.commit();
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
}

TEST(CheckingOrder, StagesOrderProducersAndConsumers) {
  auto const found = [](int tiles, bool acquire, bool wait) {
    return finding(1, 2 * kBytes + 64, [=](Arguments& a) { piped(a, tiles, acquire, wait); });
  };
  EXPECT_EQ(found(1, true, true), "");
  EXPECT_EQ(found(7, true, true), "");
  std::string const early = found(1, true, false);
  EXPECT_NE(early.find("'first'(0, 0)"), std::string::npos) << early;
  std::string const late = found(5, false, true);  // loads into a stage that is still read
  EXPECT_NE(late.find("race in"), std::string::npos) << late;
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
