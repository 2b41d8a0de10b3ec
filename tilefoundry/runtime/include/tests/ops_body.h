// A kernel that runs the ops on both targets and records what every instance
// holds after each. All values are exact, or rounded coarsely, so that both targets must record the same
// bits.
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}
namespace opcheck {
using namespace cute;
using shard::B;
using shard::S;

struct Args {
  GlobalArg<2> in;   // bf16, any extents
  GlobalArg<2> out;  // bf16, extents of `in`: written through a box
  GlobalArg<1> log;  // f32
};

constexpr bool kCollective = true;
constexpr int kThreads = 128;
constexpr int kSharedBytes = 49152;

using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, TopologyScope::thread>;
template <int N>
using Accumulator =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<S<0>, S<2>, S<4>>, Threads>;
using Linear = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>;

template <int R, int C>
using Matrix = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C>, _1>>;

/// Appends each instance's elements to the log.
struct Recorder {
  float* log;

  template <class T>
  TILEFOUNDRY_DEVICE void operator()(T const& fragment) {
    auto part = local(fragment);
    constexpr int count = decltype(size(part))::value;
    for (int i = 0; i < count; ++i) {
      log[program_id<TopologyScope::thread>() * count + i] = convert<float>(part.data()[i]);
    }
    log += kThreads * count;
  }
};

/// A small integer for a matrix element.
template <class T>
TILEFOUNDRY_DEVICE T small(int i, int j) {
  return convert<T>((i * 7 + j * 13 + i * j) % 9 - 4);
}

#include "ops_products.h"

/// A box through a shared tile whose rows lie RowStride apart and whose columns come in eights GroupStride
/// apart, with 2^Bits permuted rows, and through a fragment.
template <int RowStride, int GroupStride, int Bits = 0, class Map>
TILEFOUNDRY_DEVICE void check_box(Map const& map, int row, int column, Recorder& record) {
  using Rows = Mesh<Layout<Shape<_32, _4>, Stride<_4, _1>>, TopologyScope::thread>;
  using Split = cute::tuple<S<0>, S<1>>;
  using Storage = Layout<Shape<_32, _8, _8>, Stride<Int<RowStride>, Int<GroupStride>, _1>>;
  auto tile = shared_tensor<bfloat16_t, Swizzle<Bits, 4, 3>>(cta_shared(), Matrix<32, 64>{}, Storage{});
  ops::tile_load(map, make_coord(row, column), tile);
  using InRegisters = ShardLayout<Layout<Shape<_32, _4, _2, _8>, Stride<_0, _0, _8, _1>>, Split, Rows>;
  using InTile = ShardLayout<
      Layout<Shape<_32, _4, _2, _8>, Stride<Int<RowStride>, Int<2 * GroupStride>, Int<GroupStride>, _1>>,
      Split, Rows>;
  auto x = register_tensor<bfloat16_t>(Matrix<32, 64>{}, InRegisters{});
  tilefoundry::copy(view(tile, Matrix<32, 64>{}, InTile{}), x);
  record(x);
  ops::sync<SyncKind::cta>();
  auto y = register_tensor<bfloat16_t>(Matrix<32, 64>{}, InRegisters{});
  ops::tile_load(map, make_coord(row, column), y);
  record(y);
}

TILEFOUNDRY_DEVICE void check_reductions(Recorder& record) {
  auto ws = shared_tensor<float>(cta_shared(), Layout<Shape<Int<1024>>, Stride<_1>>{},
                                 Layout<Shape<Int<1024>>, Stride<_1>>{});
  auto x = register_tensor<float>(Matrix<64, 32>{}, Accumulator<32>{});
  auto column = register_tensor<float>(Matrix<64, 32>{}, Accumulator<32>{});
  ops::iota(x, _0{}, 0.f, 3.f);
  ops::iota(column, _1{}, -20.f, 1.f);
  ops::binary(op::mul{}, x, column, x);
  using Column =
      ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>, cute::tuple<S<0>, S<2>, B>, Threads>;
  using Row =
      ShardLayout<Layout<Shape<_1, _4, _4, _2>, Stride<_0, _2, _0, _1>>, cute::tuple<B, B, S<2>>, Threads>;
  auto per_row = register_tensor<float>(Matrix<64, 1>{}, Column{});
  auto per_column = register_tensor<float>(Matrix<1, 32>{}, Row{});
  ops::reduce<op::sum, Axes<1>>(x, per_row);
  record(per_row);
  ops::reduce<op::absmax, Axes<1>>(x, per_row);
  record(per_row);
  using All = ShardLayout<Layout<Shape<_2, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, Linear>;
  using Two = ShardLayout<Layout<Shape<_2, _1>, Stride<_1, _0>>, cute::tuple<B>, Linear>;
  auto wide = register_tensor<int32_t>(Matrix<2, 128>{}, All{});
  auto two = register_tensor<int32_t>(Matrix<2, 1>{}, Two{});
  auto total = register_tensor<int32_t>(Matrix<2, 1>{}, Two{});
  ops::fill(total, 0);
  for (int n = 0; n < 200; ++n) {
    // A workspace that serves reduction after reduction, of two kinds.
    ops::reduce<op::sum, Axes<0>>(x, per_column, ws);
    ops::iota(wide, _1{}, n, 1);
    ops::reduce<op::max, Axes<1>>(wide, two, ws);
    ops::binary(op::add{}, total, two, total);
    ops::reduce<op::min, Axes<1>>(wide, two, ws);
    ops::binary(op::add{}, total, two, total);
  }
  record(per_column);
  record(total);
}

template <class From, class To>
TILEFOUNDRY_DEVICE void check_cast(Recorder& record) {
  using SL = ShardLayout<Layout<Shape<Int<128>, _16>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;
  auto x = register_tensor<From>(Matrix<128, 16>{}, SL{});
  auto y = register_tensor<To>(Matrix<128, 16>{}, SL{});
  // Rounding cases of every small format: neighbours of halves, subnormals, the ends of the ranges.
  for (int i = 0; i < 16; ++i) {
    int const n = program_id<TopologyScope::thread>() * 16 + i;
    float const base = static_cast<float>(n % 257 - 128) * (i < 8 ? 0.03125f : 37.f);
    x.data()[i] = convert<From>(n % 3 == 0 ? base * 0.0009765625f : base);
  }
  ops::cast(x, y);
  record(y);
}

using EightEach = ShardLayout<Layout<Shape<Int<128>, _8>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;

/// An op on values in (0, 4], and on negative ones where it has results; rounded, because the last bits may
/// differ.
template <class T, class Op>
TILEFOUNDRY_DEVICE void check_unary(Op op, bool negative, Recorder& record) {
  auto x = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  for (int i = 0; i < 8; ++i) {
    float const value = static_cast<float>(program_id<TopologyScope::thread>() * 8 + i + 1) * 0.00390625f;
    x.data()[i] = convert<T>(negative && i % 2 ? -value : value);
  }
  ops::unary(op, x, x);
  ops::binary(op::mul{}, x, 16.f, x);
  ops::unary(op::round{}, x, x);
  record(x);
}

template <class T>
TILEFOUNDRY_DEVICE void check_unaries(Recorder& record) {
  check_unary<T>(op::neg{}, true, record);
  check_unary<T>(op::abs{}, true, record);
  check_unary<T>(op::relu{}, true, record);
  check_unary<T>(op::exp{}, true, record);
  check_unary<T>(op::exp2{}, true, record);
  check_unary<T>(op::log{}, false, record);
  check_unary<T>(op::log2{}, false, record);
  check_unary<T>(op::log1p{}, false, record);
  check_unary<T>(op::sqrt{}, false, record);
  check_unary<T>(op::rsqrt{}, false, record);
  check_unary<T>(op::square{}, true, record);
  check_unary<T>(op::sin{}, true, record);
  check_unary<T>(op::cos{}, true, record);
  check_unary<T>(op::tanh{}, true, record);
  check_unary<T>(op::erf{}, true, record);
  check_unary<T>(op::sigmoid{}, true, record);
  check_unary<T>(op::ceil{}, true, record);
  check_unary<T>(op::floor{}, true, record);
}

template <class T, class Out, class Op>
TILEFOUNDRY_DEVICE void check_binary(Op op, Recorder& record) {
  auto x = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto y = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto z = register_tensor<Out>(Matrix<128, 8>{}, EightEach{});
  for (int i = 0; i < 8; ++i) {
    int const n = program_id<TopologyScope::thread>() * 8 + i;
    x.data()[i] = convert<T>(n % 41 - 20);
    y.data()[i] = convert<T>(n % 2 ? n % 7 + 1 : -(n % 5) - 1);
  }
  ops::binary(op, x, y, z);
  record(z);
}

template <class T>
TILEFOUNDRY_DEVICE void check_binaries(Recorder& record) {
  check_binary<T, T>(op::add{}, record);
  check_binary<T, T>(op::sub{}, record);
  check_binary<T, T>(op::mul{}, record);
  check_binary<T, T>(op::div{}, record);
  check_binary<T, T>(op::floor_div{}, record);
  check_binary<T, T>(op::mod{}, record);
  check_binary<T, T>(op::min{}, record);
  check_binary<T, T>(op::max{}, record);
  check_binary<T, bool>(op::eq{}, record);
  check_binary<T, bool>(op::lt{}, record);
  check_binary<T, bool>(op::ge{}, record);
}

#include "ops_index.h"

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args) {
  Recorder record{static_cast<float*>(args.log.data)};
  auto const shape = make_shape(args.in.shape[0], args.in.shape[1]);
  auto const map = make_tile_map<Shape<_32, _64>>(global_tensor<bfloat16_t, Vector>(args.in, shape));
  check_box<72, 8>(map, 0, 0, record);
  check_box<72, 8>(map, 32, 64, record);
  check_box<66, 8>(map, 16, 64, record);
  check_box<64, 8>(map, 3, 7, record);
  check_box<65, 8>(map, 48, 100, record);
  check_box<8, 264>(map, 16, 64, record);
  check_box<8, 264>(map, 3, 7, record);
  check_box<64, 8, 3>(map, 16, 64, record);
  check_box<64, 8, 3>(map, 3, 7, record);
  check_box<72, 8, 2>(map, 16, 64, record);
  check_box<64, 8, 1>(map, 40, 64, record);
  auto const out = make_tile_map<Shape<_64, _32>>(global_tensor<bfloat16_t, Vector>(args.out, shape));
  auto x = register_tensor<bfloat16_t>(Matrix<64, 32>{}, Accumulator<32>{});
  ops::iota(x, _1{}, 1, 1);
  ops::tile_store(out, make_coord(0, 0), x);
  ops::tile_store(out, make_coord(5, 39), x);
  ops::tile_store(out, make_coord(40, 80), x);
  check_products(record);
  check_reductions(record);
  check_cast<float, bfloat16_t>(record);
  check_cast<float, half_t>(record);
  check_cast<float, float_e4m3_t>(record);
  check_cast<float, float_e5m2_t>(record);
  check_cast<float, int8_t>(record);
  check_cast<half_t, int32_t>(record);
  check_cast<double, bfloat16_t>(record);
  check_cast<int64_t, half_t>(record);
  check_cast<bfloat16_t, bool>(record);
  check_unaries<float>(record);
  check_unaries<double>(record);
  check_unaries<half_t>(record);
  check_binaries<float>(record);
  check_binaries<bfloat16_t>(record);
  check_binaries<int32_t>(record);
  check_binaries<int64_t>(record);
  check_binaries<uint8_t>(record);
  check_index_ops(global_tensor<bfloat16_t, Vector>(args.in, shape), args.in.shape[0], record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
