// Elementwise ops on fragments.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

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
  check_unary<T>(op::round{}, true, record);
  check_unary<T>(op::identity{}, true, record);
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
  check_binary<T, bool>(op::ne{}, record);
  check_binary<T, bool>(op::lt{}, record);
  check_binary<T, bool>(op::le{}, record);
  check_binary<T, bool>(op::gt{}, record);
  check_binary<T, bool>(op::ge{}, record);
  check_binary<T, bool>(op::logical_and{}, record);
  check_binary<T, bool>(op::logical_or{}, record);
}

/// fill, iota, where, clamp, and an operand that a view repeats.
template <class T>
TILEFOUNDRY_DEVICE void check_fragments(Recorder& record) {
  auto x = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto y = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto mask = register_tensor<bool>(Matrix<128, 8>{}, EightEach{});
  ops::fill(y, 42);
  record(y);
  ops::iota(x, _0{}, 3, 1);
  record(x);
  ops::iota(x, _1{}, 1, 2);
  record(x);
  ops::binary(op::lt{}, x, 5, mask);
  ops::unary(op::logical_not{}, mask, mask);
  ops::where(mask, x, y, y);
  record(y);
  ops::clamp(y, 9, 13, y);
  record(y);
  using Column = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, Linear>;
  using ColumnAsEight = ShardLayout<Layout<Shape<Int<128>, _8>, Stride<_0, _0>>, cute::tuple<S<0>>, Linear>;
  auto m = register_tensor<T>(Matrix<128, 1>{}, Column{});
  ops::iota(m, _0{}, 0, 1);
  ops::binary(op::sub{}, x, view(m, Matrix<128, 8>{}, ColumnAsEight{}), x);
  record(x);
}

/// NaN of either operand, both signs of zero and infinities.
template <class T>
TILEFOUNDRY_DEVICE void check_special(Recorder& record) {
  float const values[] = {__builtin_nanf(""), __builtin_huge_valf(), -__builtin_huge_valf(), 0.f, -0.f, 1.f};
  auto x = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto y = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto z = register_tensor<T>(Matrix<128, 8>{}, EightEach{});
  auto mask = register_tensor<bool>(Matrix<128, 8>{}, EightEach{});
  for (int i = 0; i < 8; ++i) {
    int const n = program_id<kThread>() * 8 + i;
    x.data()[i] = convert<T>(values[n % 6]);
    y.data()[i] = convert<T>(values[n / 6 % 6]);
  }
  ops::binary(op::max{}, x, y, z);
  record(z);
  ops::binary(op::min{}, x, y, z);
  record(z);
  ops::binary(op::add{}, x, y, z);
  record(z);
  ops::binary(op::lt{}, x, y, mask);
  record(mask);
  ops::unary(op::isnan{}, x, mask);
  record(mask);
  ops::unary(op::isinf{}, x, mask);
  record(mask);
  ops::unary(op::relu{}, x, z);
  record(z);
}

/// Powers of two at both ends of the normal numbers, and below them.
TILEFOUNDRY_DEVICE void check_powers(Recorder& record) {
  float const operands[] = {-200.f, -149.f, -126.5f, -126.f, -1.f, 3.f, 127.f, -__builtin_huge_valf()};
  auto x = register_tensor<float>(Matrix<128, 8>{}, EightEach{});
  for (int i = 0; i < 8; ++i) x.data()[i] = operands[i];
  ops::unary(op::exp2_ftz{}, x, x);
  record(x);
}

/// Views of global and of shared memory, of which a GPU moves packs where rows of Pitch elements are aligned.
template <class From, class To, int Pitch>
TILEFOUNDRY_DEVICE void check_memory(Args const& args, Recorder& record) {
  using Runs = Mesh<Layout<Shape<_16, _8>, Stride<_8, _1>>, kThread>;
  using Split = cute::tuple<S<0>, S<1>>;
  using InMemory = ShardLayout<Layout<Shape<_16, _8, _8>, Stride<Int<Pitch>, _8, _1>>, Split, Runs>;
  using InRegisters = ShardLayout<Layout<Shape<_16, _8, _8>, Stride<_0, _0, _1>>, Split, Runs>;
  using Tile = Matrix<16, 64>;
  constexpr bool aligned = Pitch * static_cast<int>(sizeof(From)) % 16 == 0;
  GlobalArg<2> const matrix{args.scratch.data, {16, 64}, {Pitch, 1}};
  auto const x = view(global_tensor<From, aligned>(matrix, make_shape(_16{}, _64{})), Tile{}, InMemory{});
  auto const rows = Layout<Shape<_16, _64>, Stride<Int<Pitch>, _1>>{};
  auto y = view(shared_tensor<To>(cta_shared(), Tile{}, rows), Tile{}, InMemory{});
  auto mask = register_tensor<bool>(Tile{}, InRegisters{});
  auto z = register_tensor<To>(Tile{}, InRegisters{});
  ops::iota(x, _1{}, -20, 1);
  ops::cast(x, y);
  ops::binary(op::lt{}, y, 20, mask);
  ops::unary(op::relu{}, y, z);
  ops::binary(op::mul{}, y, z, y);
  ops::where(mask, y, 7, y);
  ops::clamp(y, 2, 100, y);
  ops::cast(y, x);
  ops::copy_n<5>(x, z);
  record(z);
  ops::fill(x, 3);
  ops::binary(op::add{}, x, 1, x);
  ops::cast(x, y);
  tilefoundry::copy(y, z);
  record(z);
  ops::sync<SyncKind::cta>();
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
  check_memory<float, float, 64>(args, record);
  check_memory<bfloat16_t, float, 72>(args, record);
  check_memory<float, half_t, 68>(args, record);
  check_memory<int8_t, int32_t, 80>(args, record);
  check_memory<double, bfloat16_t, 66>(args, record);
  check_memory<half_t, half_t, 65>(args, record);
  check_unaries<float>(record);
  check_unaries<double>(record);
  check_unaries<half_t>(record);
  check_unaries<bfloat16_t>(record);
  check_binaries<float>(record);
  check_binaries<double>(record);
  check_binaries<half_t>(record);
  check_binaries<bfloat16_t>(record);
  check_binaries<int32_t>(record);
  check_binaries<int64_t>(record);
  check_binaries<uint8_t>(record);
  check_fragments<float>(record);
  check_fragments<bfloat16_t>(record);
  check_fragments<int32_t>(record);
  check_fragments<int8_t>(record);
  check_powers(record);
  check_special<float>(record);
  check_special<double>(record);
  check_special<half_t>(record);
  check_special<bfloat16_t>(record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
