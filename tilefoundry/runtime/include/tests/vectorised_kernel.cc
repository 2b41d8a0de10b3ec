// y *= x without ops across instances, for vectorised_test.py to look at its machine code: 1024 elements by
// TEST_THREADS instances, as fibres (TEST_COLLECTIVE) or as the plain loop that such a body gets.
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <>
constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<TEST_THREADS>>{};
}

namespace kernel {
using namespace cute;

constexpr int kEach = 1024 / TEST_THREADS;
using Threads = Mesh<Layout<Shape<Int<TEST_THREADS>>, Stride<_1>>, TopologyScope::thread>;
using Logical = Layout<Shape<_1024>, Stride<_1>>;
// Instance i has the elements i, i + TEST_THREADS, ...: neighbours are of different instances.
using Spread = ShardLayout<Layout<Shape<Int<kEach>, Int<TEST_THREADS>>, Stride<Int<TEST_THREADS>, _1>>,
                           cute::tuple<shard::S<1>>, Threads>;

struct Args {
  GlobalArg<1> x, y;
};

}  // namespace kernel

extern "C" void multiply(kernel::Args const& args, int64_t grid) {
  using namespace kernel;
  cpu::launch<TEST_COLLECTIVE>(grid, TEST_THREADS, 0, [&] {
    auto const x = global_tensor<float, true>(args.x, make_shape(_1024{}));
    auto const y = global_tensor<float, true>(args.y, make_shape(_1024{}));
    ops::binary(op::mul{}, view(x, Logical{}, Spread{}), view(y, Logical{}, Spread{}),
                view(y, Logical{}, Spread{}));
  });
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
