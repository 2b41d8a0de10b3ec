// Products of matrices: every form of operands in shared memory and in registers.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

/// How a tile lies in shared memory.
template <class Layout_, class Swizzle_ = Swizzle<0, 4, 3>>
struct Stored {
  using layout = Layout_;
  using swizzle = Swizzle_;
};
template <int R, int C, int Pad>
using InRows = Stored<Layout<Shape<Int<R>, Int<C>>, Stride<Int<C + Pad>, _1>>>;
template <int R, int C, int Pad>
using InColumns = Stored<Layout<Shape<Int<R>, Int<C>>, Stride<_1, Int<R + Pad>>>>;
/// In atoms of 8 rows of W = 2^(3 + B) elements, along rows and along columns.
template <int R, int C, int B, int W = 8 << B>
using InAtoms =
    Stored<Layout<Shape<Int<R>, Int<C / W>, Int<W>>, Stride<Int<W>, Int<W * R>, _1>>, Swizzle<B, 4, 3>>;
template <int R, int C, int B, int W = 8 << B>
using InColumnAtoms =
    Stored<Layout<Shape<Int<R / W>, Int<W>, Int<C>>, Stride<Int<W * C>, _1, Int<W>>>, Swizzle<B, 4, 3>>;

template <class T>
TILEFOUNDRY_DEVICE void write_small(T& tile, int salt) {
  using M = detail::Matrix<T>;
  TEST_ROLLED
  for (int i = program_id<TopologyScope::thread>(); i < M::Rows::extent * M::Columns::extent; i += kThreads) {
    int const row = i / M::Columns::extent, column = i % M::Columns::extent;
    tile.data()[M::offset(row, column)] = small<typename T::value_type>(row + salt, column);
  }
}

/// c = start + a @ b for tiles in the storages SA, SB.
template <class T, int K, int N, class SA, class SB,
          class Sum = std::conditional_t<std::is_same<T, int8_t>::value, int32_t, float>,
          class Spread = Accumulator<N>>
TILEFOUNDRY_DEVICE void check_mma(Recorder& record) {
  auto a = shared_tensor<T, typename SA::swizzle>(cta_shared(), Matrix<64, K>{}, typename SA::layout{});
  auto b =
      shared_tensor<T, typename SB::swizzle>(cta_shared() + 12288, Matrix<K, N>{}, typename SB::layout{});
  write_small(a, 0);
  write_small(b, 3);
  ops::sync<SyncKind::cta>();
  auto c = register_tensor<Sum>(Matrix<64, N>{}, Spread{});
  ops::iota(c, _0{}, Sum(1), Sum(2));
  ops::mma(a, b, c);
  record(c);
  ops::mma_issue(a, b, c);
  ops::mma_issue(a, b, c);
  ops::mma_wait(c);
  record(c);
  ops::sync<SyncKind::cta>();
}

/// The same for a in registers.
template <class T, int K, int N, class SB>
TILEFOUNDRY_DEVICE void check_mma_from_registers(Recorder& record) {
  auto b = shared_tensor<T, typename SB::swizzle>(cta_shared(), Matrix<K, N>{}, typename SB::layout{});
  write_small(b, 5);
  auto a = register_tensor<T>(Matrix<64, K>{}, Accumulator<K>{});
  ops::iota(a, _0{}, -9.f, 1.f);
  auto column = register_tensor<T>(Matrix<64, K>{}, Accumulator<K>{});
  ops::iota(column, _1{}, 0.f, 1.f);
  ops::binary(op::sub{}, a, column, a);
  ops::sync<SyncKind::cta>();
  auto c = register_tensor<float>(Matrix<64, N>{}, Accumulator<N>{});
  ops::iota(c, _1{}, 1.f, 2.f);
  ops::mma(a, b, c);
  record(c);
  auto running = ops::mma_issue(a, b, c);
  ops::mma_wait(c, running);
  record(c);
  ops::sync<SyncKind::cta>();
}

/// Products of elements of 8 and 32 bits, by warpgroups, by warps with rows along the reduced axis (ldmatrix)
/// and not, and by each instance.
template <class T>
TILEFOUNDRY_DEVICE void check_products_of(Recorder& record) {
  constexpr int W = 16 / static_cast<int>(sizeof(T)), K = 8 * W;
  check_mma<T, K, 8, InAtoms<64, K, 3, 8 * W>, InColumnAtoms<K, 8, 3, 8 * W>>(record);
  check_mma<T, K, 64, InAtoms<64, K, 2, 4 * W>, InColumnAtoms<K, 64, 3, 8 * W>>(record);
  check_mma<T, 2 * W, 256, InAtoms<64, 2 * W, 1, 2 * W>, InColumnAtoms<2 * W, 256, 1, 2 * W>>(record);
  check_mma<T, 4 * W, 40, InAtoms<64, 4 * W, 0, W>, InColumnAtoms<4 * W, 40, 0, W>>(record);
  check_mma<T, 4 * W, 24, InRows<64, 4 * W, W>, InColumns<4 * W, 24, W>>(record);
  check_mma<T, 4 * W, 32, InColumns<64, 4 * W, W>, InRows<4 * W, 32, W>>(record);
  check_mma<T, 2 * W, 16, InRows<64, 2 * W, 3>, InColumns<2 * W, 16, 5>>(record);
  check_mma<T, W, 16, InRows<64, W, W>, InColumns<W, 16, W>>(record);
}

/// Products of every tier.
TILEFOUNDRY_DEVICE void check_products(Recorder& record) {
  check_mma<bfloat16_t, 48, 32, InRows<64, 48, 8>, InRows<48, 32, 8>>(record);
  check_mma<bfloat16_t, 32, 24, InRows<64, 32, 8>, InColumns<32, 24, 8>>(record);
  check_mma<half_t, 64, 32, InColumns<64, 64, 8>, InRows<64, 32, 8>>(record);
  check_mma<half_t, 16, 8, InColumns<64, 16, 8>, InColumns<16, 8, 8>>(record);
  check_mma<half_t, 32, 16, InRows<64, 32, 3>, InColumns<32, 16, 5>>(record);
  check_mma<bfloat16_t, 32, 16, InColumns<64, 32, 3>, InRows<32, 16, 5>>(record);
  check_mma<bfloat16_t, 24, 16, InRows<64, 24, 8>, InRows<24, 16, 8>>(record);
  check_mma<float, 32, 16, InRows<64, 32, 4>, InColumns<32, 16, 4>>(record);
  // In atoms, for every width of wgmma and for widths that take several.
  check_mma<bfloat16_t, 64, 8, InAtoms<64, 64, 3>, InAtoms<64, 8, 0>>(record);
  check_mma<half_t, 48, 16, InAtoms<64, 48, 0>, InColumnAtoms<48, 16, 1>>(record);
  check_mma<half_t, 64, 32, InColumnAtoms<64, 64, 3>, InAtoms<64, 32, 2>>(record);
  check_mma<bfloat16_t, 16, 64, InColumnAtoms<64, 16, 2>, InColumnAtoms<16, 64, 1>>(record);
  check_mma<bfloat16_t, 80, 96, InAtoms<64, 80, 1>, InColumnAtoms<80, 96, 1>>(record);
  check_mma<half_t, 64, 128, InAtoms<64, 64, 3>, InAtoms<64, 128, 3>>(record);
  check_mma<half_t, 64, 112, InAtoms<64, 64, 2>, InColumnAtoms<64, 112, 3>>(record);
  check_mma<bfloat16_t, 64, 192, InAtoms<64, 64, 3>, InAtoms<64, 192, 3>>(record);
  check_mma<bfloat16_t, 32, 256, InAtoms<64, 32, 2>, InColumnAtoms<32, 256, 2>>(record);
  check_mma<half_t, 32, 40, InColumnAtoms<64, 32, 0>, InAtoms<32, 40, 0>>(record);
  check_mma<half_t, 32, 176, InAtoms<64, 32, 2>, InColumnAtoms<32, 176, 2>>(record);
  check_mma<half_t, 32, 144, InColumnAtoms<64, 32, 1>, InAtoms<32, 144, 1>>(record);
  check_mma<half_t, 32, 160, InColumnAtoms<64, 32, 3>, InAtoms<32, 160, 2>>(record);
  // What a warpgroup cannot take, warps do.
  check_mma<half_t, 32, 16, InAtoms<64, 32, 2>, InRows<32, 16, 8>>(record);
  check_mma_from_registers<bfloat16_t, 64, 64, InAtoms<64, 64, 3>>(record);
  check_mma_from_registers<half_t, 48, 40, InColumnAtoms<48, 40, 1>>(record);
  check_mma_from_registers<half_t, 32, 256, InAtoms<32, 256, 3>>(record);
  check_mma_from_registers<bfloat16_t, 32, 24, InRows<32, 24, 8>>(record);
  check_mma_from_registers<float, 32, 24, InRows<32, 24, 4>>(record);
  // What no tensor core takes, each instance multiplies.
  check_mma<double, 16, 16, InRows<64, 16, 2>, InColumns<16, 16, 2>, double>(record);
  check_mma<int32_t, 16, 24, InRows<64, 16, 4>, InRows<16, 24, 4>, int32_t>(record);
  check_mma<half_t, 32, 16, InRows<64, 32, 8>, InRows<32, 16, 8>, half_t>(record);
  check_mma<bfloat16_t, 32, 16, InRows<64, 32, 8>, InColumns<32, 16, 8>, double>(record);
  using Threes = ShardLayout<Layout<Shape<_64, _2, _3>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>,
                             Mesh<Layout<Shape<_64, _2>, Stride<_2, _1>>, kThread>>;
  check_mma<half_t, 19, 6, InRows<64, 19, 1>, InColumns<19, 6, 1>, float, Threes>(record);
  check_products_of<float_e4m3_t>(record);
  check_products_of<float_e5m2_t>(record);
  check_products_of<int8_t>(record);
  check_products_of<tfloat32_t>(record);
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const&, Recorder& record) {
  check_products(record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
