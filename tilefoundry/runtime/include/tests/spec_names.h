// Every name of the runtime's specification as it is written there, with the umbrella header alone. Only
// compiled: headers_test.py does so for the CPU, cubin_test.py for CUDA.
#pragma once

#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::_32>{};
}

namespace spec_names {
using namespace cute;

using Domain = tilefoundry::Mesh<Layout<Shape<_4, _8>, Stride<_8, _1>>, TopologyScope::thread>;
using Attrs = cute::tuple<shard::S<0>, shard::S<1>>;
using Logical = Layout<Shape<_4, _8>, Stride<_8, _1>>;
using InMemory = ShardLayout<Logical, Attrs, Domain>;
using InRegisters = ShardLayout<Layout<Shape<_4, _8>, Stride<_0, _0>>, Attrs, Domain>;

/// 2.1 to 2.5
TILEFOUNDRY_DEVICE void placement() {
  static_assert(TopologyScope::cta < TopologyScope::scope_count &&
                TopologyScope::thread < TopologyScope::scope_count);
  static_assert(size(program_shape<TopologyScope::thread>()) == 32 &&
                program_dim<TopologyScope::thread>() == 32);
  [[maybe_unused]] auto const grid = program_shape<TopologyScope::cta>();
  [[maybe_unused]] auto const ids = program_id<TopologyScope::thread>() + program_dim<TopologyScope::cta>();
  static_assert(rank(Domain::topologies) == 1);
  [[maybe_unused]] auto const at = Domain{Domain{}.mesh_layout}.local_index();
  [[maybe_unused]] auto const [layout, attrs, mesh] = InMemory{Logical{}, Attrs{}, Domain{}};
  [[maybe_unused]] cute::tuple<shard::B, shard::P<op::sum>, shard::Dynamic> others;
}

/// 2.6 to 2.10, 3.1 to 3.3
TILEFOUNDRY_DEVICE void tensors(float* memory) {
  auto plain = make_tensor(make_gmem_ptr(memory), Logical{});
  auto whole = make_shard_tensor(plain, Logical{}, InMemory{});
  using Whole = decltype(whole);
  static_assert(is_same<Whole, ShardTensor<decltype(plain), Logical, InMemory>>::value);
  static_assert(is_same<Whole::engine_type, decltype(whole.engine)>::value);
  static_assert(is_same<Whole::shard_layout_type, decltype(whole.shard_layout)>::value);
  static_assert(is_same<Whole::global_layout_type, Logical>::value &&
                is_same<decltype(whole.data()), float*>::value);
  auto fragment = register_tensor<float>(Logical{}, InRegisters{});
  tilefoundry::copy(whole, fragment);
  tilefoundry::copy(fragment, whole);
  auto own = make_tensor<float>(shard_layout_local_shape(whole.shard_layout));
  tilefoundry::copy(whole, own);
  tilefoundry::copy(own, whole);
  cute::copy(local(whole), own);
  cute::fill(own, 1.f);
  cute::copy(own, shard_partition(make_tensor(make_smem_ptr(memory), InMemory{})));
}

/// 3.4 to 3.6, and the elementwise ops of section 3
TILEFOUNDRY_DEVICE void operations(float* memory, unsigned* counters) {
  auto global = make_shard_tensor(make_tensor(make_gmem_ptr(memory), Logical{}), Logical{}, InMemory{});
  auto shared = make_shard_tensor(make_tensor(make_smem_ptr(memory), Logical{}), Logical{}, InMemory{});
  auto x = register_tensor<float>(Logical{}, InRegisters{});
  using PerRow =
      ShardLayout<Layout<Shape<_4, _1>, Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::B>, Domain>;
  auto y = register_tensor<float>(Layout<Shape<_4, _1>, Stride<_1, _1>>{}, PerRow{});
  ops::copy_async(global, shared);
  ops::cp_async_commit();
  ops::cp_async_wait<0>();
  ops::sync<SyncKind::cta>();
  ops::sync<SyncKind::warp, 0, 0, 0xffu>();
  ops::sync<SyncKind::named, 0, 32, 0u, 1>();
  ops::sync<SyncKind::grid>(counters);
  ops::cast(shared, x);
  ops::unary(op::relu{}, x, x);
  ops::clamp(x, 0.f, 6.f, x);
  ops::copy_n<1>(x, shared);
  ops::reduce<op::sum, Axes<1>>(x, y);
  ops::reduce<op::mean, Axes<1>>(x, y, ops::no_workspace{});
  ops::reduce<op::max, Axes<1>>(x, y);
  ops::reduce<op::absmax, Axes<1>>(x, y);
}

}  // namespace spec_names
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
