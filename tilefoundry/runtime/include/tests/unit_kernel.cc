// One of two units that share mesh types but neither their grid nor their block: see units_test.cc.
// TEST_UNIT names the exported functions; TEST_CTAS and TEST_THREADS are the program's shape.
#include <tilefoundry/runtime.h>

#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <>
constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<TEST_THREADS>>{};
}
template <>
constexpr auto program_shape<TopologyScope::cta>() noexcept {
  return cute::Shape<cute::Int<TEST_CTAS>>{};
}

namespace kernel {
using namespace cute;

using Both =
    Mesh<Layout<Shape<_2, _4, _32>, Stride<Int<128>, _32, _1>>, TopologyScope::cta, TopologyScope::thread>;

/// Writes each instance's mesh coordinate, by the order of the ids.
void coordinates(int* out) {
  auto const index = Both{}.local_index();
  int const id = program_id<TopologyScope::cta>() * program_dim<TopologyScope::thread>() +
                 program_id<TopologyScope::thread>();
  out[id] = 10000 * static_cast<int>(get<0>(index)) + 100 * static_cast<int>(get<1>(index)) +
            static_cast<int>(get<2>(index));
}

}  // namespace kernel

extern "C" int TEST_CAT(TEST_UNIT, _threads)() { return program_dim<TopologyScope::thread>(); }
extern "C" int TEST_CAT(TEST_UNIT, _ctas)() { return program_dim<TopologyScope::cta>(); }
extern "C" void TEST_CAT(TEST_UNIT, _run)(int* out) {
  cpu::launch<true>(TEST_CTAS, TEST_THREADS, 0, [=] {
    kernel::coordinates(out);
    ops::sync<SyncKind::cta>();
  });
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
