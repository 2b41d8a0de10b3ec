// Elementwise ops on views of memory, for cubin_test.py to look at the machine code: eight neighbours of each
// instance, in aligned rows and in others; and a whole tensor, which its instances share.
#define TILEFOUNDRY_TARGET_CUDA 1
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}
namespace kernel {
using namespace cute;
using shard::S;

using Threads = Mesh<Layout<Shape<_16, _8>, Stride<_8, _1>>, TopologyScope::thread>;
using Rows = Layout<Shape<_16, _64>, Stride<_64, _1>>;
using InRuns = ShardLayout<Layout<Shape<_16, _8, _8>, Stride<_64, _8, _1>>, cute::tuple<S<0>, S<1>>, Threads>;

/// y = relu(x), one element type to the other.
template <bool Vector>
TILEFOUNDRY_DEVICE void body(GlobalArg<2> const& x, GlobalArg<2> const& y) {
  auto const shape = make_shape(_16{}, _64{});
  ops::unary(op::relu{}, view(global_tensor<bfloat16_t, Vector>(x, shape), Rows{}, InRuns{}),
             view(global_tensor<float, Vector>(y, shape), Rows{}, InRuns{}));
}

/// y = 3 + 2 * column.
template <bool Vector>
TILEFOUNDRY_DEVICE void numbers(GlobalArg<2> const& y) {
  ops::iota(view(global_tensor<float, Vector>(y, make_shape(_16{}, _64{})), Rows{}, InRuns{}), _1{}, 3, 2);
}

/// The same, whose elements the instances share.
TILEFOUNDRY_DEVICE void whole_numbers(GlobalArg<2> const& y) {
  auto const shape = make_shape(_16{}, _64{});
  ops::whole_iota(_1{}, 3, 2, global_tensor<int, true>(y, shape), shape, share_of_cta());
}

}  // namespace kernel

extern "C" __global__ void __launch_bounds__(128) relu__vector(GlobalArg<2> x, GlobalArg<2> y) {
  kernel::body<true>(x, y);
}
extern "C" __global__ void __launch_bounds__(128) relu__general(GlobalArg<2> x, GlobalArg<2> y) {
  kernel::body<false>(x, y);
}
extern "C" __global__ void __launch_bounds__(128) iota__vector(GlobalArg<2> y) { kernel::numbers<true>(y); }
extern "C" __global__ void __launch_bounds__(128) iota__general(GlobalArg<2> y) { kernel::numbers<false>(y); }
extern "C" __global__ void __launch_bounds__(128) whole_iota__vector(GlobalArg<2> y) {
  kernel::whole_numbers(y);
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
