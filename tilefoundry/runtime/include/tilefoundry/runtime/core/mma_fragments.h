// ops::mma of operands that are both in registers: one m16n8k16 instruction of a warp.
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>
#if defined(TILEFOUNDRY_TARGET_CUDA)
#include <tilefoundry/runtime/cuda/mma.cuh>
#endif

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Whether a lane holds of the b (16, 8) of m16n8k16 what the instruction takes: of column lane / 4 the rows
/// 2 q, 2 q + 1, 2 q + 8 and 2 q + 9, with q = lane % 4. (PTX ISA, matrix fragments for mma.m16n8k16.)
template <class B, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_right_operand(cute::seq<M...>) {
  using Rows = FragmentAxis<B, 0>;
  MeshMove const moves[] = {mesh_move<B, M>()..., MeshMove{}};
  int covered = 0;
  for (MeshMove const& move : moves) {
    if (move.extent == 1) continue;
    bool const quad = move.thread && move.step == 1 && move.extent == 4 && move.axis == 0 && move.weight == 2;
    bool const group =
        move.thread && move.step == 4 && move.extent == 8 && move.axis == 1 && move.weight == 1;
    if (!quad && !group) return false;
    covered += move.extent;
  }
  return covered == 12 && Rows::count == 4 && Rows::pairs(1, 8) && FragmentAxis<B, 1>::count == 1;
}

template <class A, class B, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_m16n8k16() {
  using GB = typename B::global_layout_type;
  return decltype(cute::size<0>(GB{}))::value == 16 && decltype(cute::size<1>(GB{}))::value == 8 &&
         sizeof(typename A::value_type) == 2 && is_accumulator<C, typename A::value_type, 5>() &&
         FragmentAxis<C, 0>::count == 2 && is_left_operand<A, C>() &&
         is_right_operand<B>(cute::make_seq<FragmentOf<B>::Traits::axes>{});
}

/// Without tensor cores: the lanes pass each other a and b, and each multiplies for its own elements of c.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void exchange_m16n8k16(A const& a, B const& b, C& c) {
  int const lane = target::thread_id() % 32;
  auto const a_part = local(a);
  auto const b_part = local(b);
  float x[2][16], y[16][2] = {};
  for (int distance = 0; distance < 4; ++distance) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        auto const mine = a_part.data()[FragmentAxis<A, 0>::offset(i) + FragmentAxis<A, 1>::offset(j)];
        int const k = FragmentAxis<A, 1>::step(j) + 2 * (lane % 4 ^ distance);
        x[i][k] = target::shuffle_xor(convert<float>(mine), distance, warp_members<C>());
      }
    }
  }
  for (int distance = 0; distance < 32; ++distance) {
    int const other = lane ^ distance, column = other / 4 - 2 * (lane % 4);
    for (int j = 0; j < 4; ++j) {
      float const mine = convert<float>(b_part.data()[FragmentAxis<B, 0>::offset(j)]);
      float const theirs = target::shuffle_xor(mine, distance, warp_members<C>());
      if (column == 0 || column == 1) y[FragmentAxis<B, 0>::step(j) + 2 * (other % 4)][column] = theirs;
    }
  }
  auto const part = local(c);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      auto&& sum = part.data()[FragmentAxis<C, 0>::offset(i) + FragmentAxis<C, 1>::offset(j)];
      float total = sum;
      for (int k = 0; k < 16; ++k) total = op::add{}(total, op::mul{}(x[i][k], y[k][j]));
      sum = total;
    }
  }
}

/// c += a @ b, all in registers as m16n8k16 lays them over the lanes of a warp.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void mma_fragments(A const& a, B const& b, C& c) {
  static_assert(is_m16n8k16<A, B, C>(),
                "ops::mma: with b in registers, the operands are the fragments of m16n8k16");
#if defined(TILEFOUNDRY_TARGET_CUDA)
  using T = typename A::value_type;
  if constexpr (tensor_core_available<T>()) {
    auto const b_part = local(b);
    uint32_t fa[4], fb[2];
    pack_a(fa, a, 0, 0);
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < 2; ++i) {
      uint32_t const low = b_part.data()[FragmentAxis<B, 0>::offset(2 * i)].storage;
      uint32_t const high = b_part.data()[FragmentAxis<B, 0>::offset(2 * i + 1)].storage;
      fb[i] = low | high << 16;
    }
    auto const part = local(c);
    auto* const d = cute::raw_pointer_cast(part.data());
    using Rows = FragmentAxis<C, 0>;
    using Columns = FragmentAxis<C, 1>;
    mma_m16n8<T>(d[Rows::offset(0) + Columns::offset(0)], d[Rows::offset(0) + Columns::offset(1)],
                 d[Rows::offset(1) + Columns::offset(0)], d[Rows::offset(1) + Columns::offset(1)], fa, fb[0],
                 fb[1]);
    return;
  }
#endif
  exchange_m16n8k16(a, b, c);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
