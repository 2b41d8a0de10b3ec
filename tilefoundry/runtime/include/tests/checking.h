// What the tests of checking mode share: a call with an input and an output, and what it finds.
#pragma once

#include <functional>
#include <string>

#include "testing.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

using checked::Call;
using checked::Finding;
using checked::GlobalTensor;
using Role = GlobalTensor::Role;
using cute::_0;
using cute::_1;
using cute::_4;
using cute::Int;
using cute::make_coord;
using cute::make_shape;
using cute::Shape;
using cute::Stride;

// A (4, 32) tensor over 4 warps of 32 lanes, one element an instance.
using Logical = RowMajor<4, 32>;
using ThreadMesh = Mesh<cute::Layout<Shape<_4, Int<32>>, Stride<Int<32>, _1>>, TopologyScope::thread>;
template <class Strides>
using Spread =
    ShardLayout<cute::Layout<Shape<_4, Int<32>>, Strides>, cute::tuple<shard::S<0>, shard::S<1>>, ThreadMesh>;
using InMemory = Spread<Stride<Int<32>, _1>>;
using InRegisters = Spread<Stride<_0, _0>>;
using Flipped = Spread<Stride<Int<32>, Int<-1>>>;

constexpr int kBytes = 128 * sizeof(float);

/// Two arguments of shape (4, 32): an input of zeroes and an output.
struct Arguments {
  float x[4 * 32] = {}, out[4 * 32] = {};
  int64_t shape[2] = {4, 32}, strides[2] = {32, 1};

  GlobalArg<2> arg(float* data) { return {data, {4, 32}, {32, 1}}; }
  auto tensor(float* data) { return global_tensor<float, false>(arg(data), make_shape(Int<4>{}, Int<32>{})); }
  auto in() { return tensor(x); }
  auto result() { return tensor(out); }
  template <class Tensor>
  static auto spread(Tensor const& tensor) {
    return view(tensor, Logical{}, InMemory{});
  }
};

/// What a call finds that launches kernels on its arguments; "" when all is well.
inline std::string finding_of(std::function<void(Arguments&)> const& launches) {
  Arguments a;
  Call call;
  call.add("x", a.x, sizeof(float), 2, a.shape, a.strides, Role::input);
  call.add("out", a.out, sizeof(float), 2, a.shape, a.strides, Role::output);
  call.begin();
  try {
    launches(a);
    call.finish();
  } catch (Finding const& found) {
    return found.what();
  }
  return "";
}

/// What a call finds whose kernel is `body`.
inline std::string finding(int64_t grid, int shared_bytes, std::function<void(Arguments&)> const& body) {
  return finding_of([&](Arguments& a) { launch(grid, shared_bytes, [&] { body(a); }); });
}

inline auto fragment(char const* name) { return register_tensor<float>(Logical{}, InRegisters{}, name); }
inline auto tile() { return shared_tensor<float>(cta_shared(), Logical{}, Logical{}, "tile"); }
/// The tile with the elements of its rows in reverse order.
template <class Tile>
auto mirror_image(Tile const& t) {
  return view(cute::make_tensor(t.engine.data() + 31, t.engine.layout()), Logical{}, Flipped{});
}
inline int thread() { return program_id<TopologyScope::thread>(); }

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
