// Checking mode, between CTAs: grid barriers and atomic additions.
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
  // Who has set what it adds to itself needs no order, and all others do.
  auto const set_and_add = [](Arguments& a, bool of_ctas) {
    auto const p = cute::raw_pointer_cast(a.result().data());
    auto const q = tile().data();
    if (cta() == 0) p[thread()] = 0.f;
    if (thread() == 0) q[5] = 0.f;
    if (!of_ctas) target::atomic_add(q + 5, 1.f);
    target::atomic_add(p + thread(), 1.f);
  };
  EXPECT_EQ(
      resident([&](Arguments& a) { set_and_add(a, true); }),
      "race in the kernel's body: instance (cta 1, thread 0) writes 'out'(0, 0), which instance (cta 0, "
      "thread 0) writes, and no barrier lies between the two");
  EXPECT_EQ(
      resident([&](Arguments& a) { set_and_add(a, false); }),
      "race in the kernel's body: instance (cta 0, thread 1) writes 'tile'(0, 5), which instance (cta 0, "
      "thread 0) writes, and no barrier lies between the two");
  EXPECT_EQ(
      resident([](Arguments& a) { target::atomic_add(cute::raw_pointer_cast(a.result().data()), 1.f); }),
      "uninitialised read in the kernel's body: instance (cta 0, thread 0) reads 'out'(0, 0), which "
      "nobody has "
      "written");
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
