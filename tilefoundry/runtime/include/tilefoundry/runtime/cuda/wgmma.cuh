// The warpgroup tier of ops::mma (sm_90a): wgmma on operands in shared memory, or A in registers.
#pragma once

#include <tilefoundry/runtime/core/wgmma_layout.h>

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

/// One step of the columns from the instance's FirstColumn-th on, with as few instructions as they allow.
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

/// First row or column of the instance's warpgroup in c. It is the same for all threads of a warp, which the
/// compiler cannot see.
template <class C, int Axis, class Coords>
TILEFOUNDRY_DEVICE int wgmma_origin(Coords const& coords) {
  if constexpr (spans_one_warpgroup<C>(cute::make_seq<FragmentOf<C>::Traits::axes>{})) {
    return 0;
  } else {
    int const own = static_cast<int>(FragmentOf<C>::template origin<Axis>(coords));
    return __shfl_sync(0xffffffffu, Axis == 0 ? own - target::thread_id() / 32 % 4 * 16 : own, 0);
  }
}

/// How far a descriptor's address moves for an offset in elements.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr uint64_t wgmma_distance(int offset) {
  return static_cast<uint64_t>(offset * static_cast<int>(sizeof(T)) >> 4);
}

/// The A operand of a row block: descriptors of a shared tile, or registers, which all have their values
/// before the first instruction that reads them.
template <int RowBlock, class A, class C, bool Shared = is_whole<A>::value>
struct WgmmaLeft {
  using T = typename A::value_type;
  using Operand = WgmmaLeftOperand<A>;
  uint64_t descriptor;

  TILEFOUNDRY_DEVICE WgmmaLeft(A const& a, int first_row)
      : descriptor(wgmma_descriptor(
            a.data() + Matrix<A>::Rows::offset(first_row + FragmentAxis<C, 0>::step(2 * RowBlock)),
            Operand::descriptor())) {}

  template <bool TransposeB, int K, int N, class At, class D>
  TILEFOUNDRY_DEVICE void multiply(D* d, uint64_t b) const {
    constexpr uint64_t along_k = wgmma_distance<T>(Matrix<A>::Columns::offset(K));
    Wgmma<N>::template shared<T, !Operand::along_k, TransposeB, At>(d, descriptor + along_k, b);
  }

  TILEFOUNDRY_DEVICE void ended() {}
};

template <int RowBlock, class A, class C>
struct WgmmaLeft<RowBlock, A, C, false> {
  using T = typename A::value_type;
  static constexpr int steps = FragmentAxis<A, 1>::count / 4;
  uint32_t registers[steps][4];

  TILEFOUNDRY_DEVICE WgmmaLeft(A const& fragment, int) {
    TILEFOUNDRY_UNROLL
    for (int k = 0; k < steps; ++k) pack_a(registers[k], fragment, RowBlock, k);
  }

  template <bool TransposeB, int K, int N, class At, class D>
  TILEFOUNDRY_DEVICE void multiply(D* d, uint64_t b) const {
    Wgmma<N>::template registers<T, TransposeB, At>(d, registers[K / 16], b);
  }

  /// The registers keep their values up to this point.
  TILEFOUNDRY_DEVICE void ended() {
    TILEFOUNDRY_UNROLL
    for (int k = 0; k < steps; ++k) {
      TILEFOUNDRY_UNROLL
      for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(registers[k][i])::"memory");
    }
  }
};

/// The products of one row block: for each 32 bytes of the reduced axis, all columns of the instance.
template <int RowBlock, class B, class C, class Left, class D>
TILEFOUNDRY_DEVICE void wgmma_row_block(Left const& left, B const& b, D* d, int column) {
  using T = typename B::value_type;
  using Operand = WgmmaRightOperand<B>;
  for_each_constant(
      [&](auto step) {
        constexpr int k = kMmaDepth<T> * decltype(step)::value;
        wgmma_columns_from<RowBlock, 0, C>([&](auto n, auto first, auto at) {
          // One addition for each step: the address of the columns is common to all of them.
          uint64_t const columns =
              wgmma_descriptor(b.data() + Matrix<B>::Columns::offset(column + first), Operand::descriptor());
          constexpr uint64_t along_k = wgmma_distance<T>(Matrix<B>::Rows::offset(k));
          left.template multiply<!Operand::along_k, k, decltype(n)::value, decltype(at)>(d,
                                                                                         columns + along_k);
        });
      },
      cute::make_seq<Matrix<B>::Rows::extent / kMmaDepth<T>>{});
}

/// What must live until products that run have ended: the registers of `a`.
template <class... Lefts>
struct WgmmaRunning {
  cute::tuple<Lefts...> lefts;
};

/// Starts c += a @ b on the warpgroups of the CTA, each for its own blocks of 64 rows, and closes the group.
template <class A, class B, class C, int... RowBlocks>
TILEFOUNDRY_DEVICE auto wgmma_issue(A const& a, B const& b, C& c, cute::seq<RowBlocks...>) {
  auto const coords = c.shard_layout.mesh.local_index();
  int const row = wgmma_origin<C, 0>(coords), column = wgmma_origin<C, 1>(coords);
  auto const part = local(c);
  auto* const d = cute::raw_pointer_cast(part.data());
  WgmmaRunning<WgmmaLeft<RowBlocks, A, C>...> const running{{WgmmaLeft<RowBlocks, A, C>(a, row)...}};
  // What other instructions wrote to registers is seen by wgmma after the fence.
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  (wgmma_row_block<RowBlocks, B, C>(cute::get<RowBlocks>(running.lefts), b, d, column), ...);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  return running;
}

/// Waits until at most `Pending` groups are running.
template <int Pending>
TILEFOUNDRY_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <class... Lefts>
TILEFOUNDRY_DEVICE void wgmma_ended(WgmmaRunning<Lefts...>& running) {
  cute::for_each(running.lefts, [](auto& left) { left.ended(); });
}

template <class Complete>
TILEFOUNDRY_DEVICE void wgmma_ended(Complete&) {}

/// No read or write of the accumulators moves above this point.
template <class E, class GL, class SL>
TILEFOUNDRY_DEVICE void wgmma_ended(ShardTensor<E, GL, SL>& c) {
  using C = ShardTensor<E, GL, SL>;
  auto const part = local(c);
  auto* const d = cute::raw_pointer_cast(part.data());
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < FragmentAxis<C, 0>::count; ++i) {
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < FragmentAxis<C, 1>::count; ++j) {
      [[maybe_unused]] auto& value = d[FragmentAxis<C, 0>::offset(i) + FragmentAxis<C, 1>::offset(j)];
      // In elements of other types no warpgroup accumulates: their products were complete when issued.
      if constexpr (std::is_same<typename C::value_type, float>::value) {
        asm volatile("" : "+f"(value)::"memory");
      } else if constexpr (std::is_same<typename C::value_type, int32_t>::value) {
        asm volatile("" : "+r"(value)::"memory");
      }
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
