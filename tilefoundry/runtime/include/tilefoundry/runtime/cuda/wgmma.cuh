// The warpgroup tier of ops::mma (sm_90a): wgmma on operands in shared memory, or A in registers.
#pragma once

#include <tilefoundry/runtime/core/mma_layout.h>

#include <tilefoundry/runtime/cuda/wgmma_atoms.cuh>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// @param form the descriptor of the operand's atoms, without an address
TILEFOUNDRY_DEVICE uint64_t wgmma_descriptor(void const* p, uint64_t form) {
  return form | (target::shared_address(p) & 0x3ffffu) >> 4;
}

/// Registers of a block of accumulators in the order of Wgmma.
template <class C, int RowBlock, int FirstColumn>
struct WgmmaAccumulators {
  TILEFOUNDRY_HOST_DEVICE static constexpr int at(int i) {
    return FragmentAxis<C, 0>::offset(2 * RowBlock + i / 2 % 2) +
           FragmentAxis<C, 1>::offset(FirstColumn + i / 4 * 2 + i % 2);
  }
};

/// One k16 step of the columns from the instance's FirstColumn-th on, with as few instructions as they allow.
template <int RowBlock, int FirstColumn, class C, class Multiply>
TILEFOUNDRY_DEVICE void wgmma_columns_from(Multiply const& multiply) {
  using Columns = FragmentAxis<C, 1>;
  if constexpr (FirstColumn < Columns::count) {
    constexpr int n = wgmma_columns(8 * Columns::blocks_together(FirstColumn));
    multiply(cute::Int<n>{}, cute::Int<Columns::step(FirstColumn)>{},
             WgmmaAccumulators<C, RowBlock, FirstColumn>{});
    wgmma_columns_from<RowBlock, FirstColumn + n / 4, C>(multiply);
  }
}

/// The A operand of a row block: descriptors of a shared tile, or registers, which all have their values
/// before the first instruction that reads them.
template <int RowBlock, class A, class C, bool Shared = is_whole<A>::value>
struct WgmmaLeft {
  using Operand = WgmmaLeftOperand<A>;
  A const& a;
  int row;

  TILEFOUNDRY_DEVICE WgmmaLeft(A const& tile, int first_row)
      : a(tile), row(first_row + FragmentAxis<C, 0>::step(2 * RowBlock)) {}

  template <class T, bool TransposeB, int K, int N, class At>
  TILEFOUNDRY_DEVICE void multiply(float* d, uint64_t b) const {
    uint64_t const descriptor = wgmma_descriptor(a.data() + Matrix<A>::linear(row, K), Operand::descriptor());
    Wgmma<N>::template shared<T, !Operand::along_k, TransposeB, At>(d, descriptor, b);
  }
};

template <int RowBlock, class A, class C>
struct WgmmaLeft<RowBlock, A, C, false> {
  static constexpr int steps = FragmentAxis<A, 1>::count / 4;
  uint32_t registers[steps][4];

  TILEFOUNDRY_DEVICE WgmmaLeft(A const& fragment, int) {
    TILEFOUNDRY_UNROLL
    for (int k = 0; k < steps; ++k) pack_a(registers[k], fragment, RowBlock, k);
  }

  template <class T, bool TransposeB, int K, int N, class At>
  TILEFOUNDRY_DEVICE void multiply(float* d, uint64_t b) const {
    Wgmma<N>::template registers<T, TransposeB, At>(d, registers[K / 16], b);
  }
};

/// The products of one row block: for each 16 of the reduced axis, all columns of the instance.
template <int RowBlock, class B, class C, class Left>
TILEFOUNDRY_DEVICE void wgmma_row_block(Left const& left, B const& b, float* d, int column) {
  using T = typename B::value_type;
  using Operand = WgmmaRightOperand<B>;
  for_each_constant(
      [&](auto step) {
        constexpr int k = 16 * decltype(step)::value;
        wgmma_columns_from<RowBlock, 0, C>([&](auto n, auto first, auto at) {
          uint64_t const descriptor =
              wgmma_descriptor(b.data() + Matrix<B>::linear(k, column + first), Operand::descriptor());
          left.template multiply<T, !Operand::along_k, k, decltype(n)::value, decltype(at)>(d, descriptor);
        });
      },
      cute::make_seq<Matrix<B>::Rows::extent / 16>{});
}

/// Starts c += a @ b on the warpgroups of the CTA, each for its own blocks of 64 rows, and closes the group.
/// @return what must live until the group has ended: the registers of `a`
template <class A, class B, class C, int... RowBlocks>
TILEFOUNDRY_DEVICE auto wgmma_issue(A const& a, B const& b, C& c, cute::seq<RowBlocks...>) {
  using F = FragmentOf<C>;
  auto const coords = c.shard_layout.mesh.local_index();
  // Of a warpgroup the same for all threads, which the compiler cannot see.
  int const row =
      __shfl_sync(0xffffffffu, F::template origin<0>(coords) - target::thread_id() / 32 % 4 * 16, 0);
  int const column = __shfl_sync(0xffffffffu, F::template origin<1>(coords), 0);
  auto const part = local(c);
  float* const d = cute::raw_pointer_cast(part.data());
  auto const lefts = cute::make_tuple(WgmmaLeft<RowBlocks, A, C>(a, row)...);
  // What other instructions wrote to registers is seen by wgmma after the fence.
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  (wgmma_row_block<RowBlocks, B, C>(cute::get<RowBlocks>(lefts), b, d, column), ...);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  return lefts;
}

/// Waits until at most `Pending` groups are running.
template <int Pending>
TILEFOUNDRY_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// No read or write of the accumulators moves above this point.
template <class C>
TILEFOUNDRY_DEVICE void wgmma_ended(C& c) {
  auto const part = local(c);
  float* const d = cute::raw_pointer_cast(part.data());
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < FragmentAxis<C, 0>::count; ++i) {
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < FragmentAxis<C, 1>::count; ++j) {
      asm volatile("" : "+f"(d[FragmentAxis<C, 0>::offset(i) + FragmentAxis<C, 1>::offset(j)])::"memory");
    }
  }
}

/// c += a @ b; complete on return.
template <class A, class B, class C>
TILEFOUNDRY_DEVICE void wgmma(A const& a, B const& b, C& c) {
  wgmma_issue(a, b, c, cute::make_seq<FragmentAxis<C, 0>::count / 2>{});
  wgmma_wait<0>();
  wgmma_ended(c);
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
