// Which elements of a matrix fragment an instance holds, and whether they are those of an mma.sync
// accumulator.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/matrix.h>
#include <tilefoundry/runtime/core/reducers.h>
#include <tilefoundry/runtime/core/slice.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The rows (Axis 0) or columns (Axis 1) that an instance holds of a matrix.
template <class C, int Axis>
struct FragmentAxis {
  using F = FragmentOf<C>;
  static_assert(F::valid, "ops: the modes of a fragment's layout must factor the logical extents in order");
  using Offsets = decltype(F::template axis_offsets<Axis>());
  using Steps = decltype(F::template axis_steps<Axis>());
  static constexpr int count = decltype(cute::size(Steps{}))::value;

  /// Storage offset of the i-th row or column, and its logical distance from the instance's first.
  TILEFOUNDRY_HOST_DEVICE static constexpr int offset(int i) { return static_cast<int>(Offsets{}(i)); }
  TILEFOUNDRY_HOST_DEVICE static constexpr int step(int i) { return static_cast<int>(Steps{}(i)); }

  /// Whether rows or columns come in pairs `distance` apart whose first is a multiple of `atom`.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool pairs(int distance, int atom) {
    bool paired = count % 2 == 0;
    for (int i = 0; i + 1 < count; i += 2) {
      paired = paired && step(i) % atom == 0 && step(i + 1) == step(i) + distance;
    }
    return paired;
  }

  /// How many blocks of 8 neighbours follow each other from the first-th element on; elements come in pairs.
  TILEFOUNDRY_HOST_DEVICE static constexpr int blocks_together(int first) {
    int blocks = 0;
    while (first + 2 * blocks < count && step(first + 2 * blocks) == step(first) + 8 * blocks) ++blocks;
    return blocks;
  }
};

/// How a step of one mesh axis moves an instance over a matrix.
struct MeshMove {
  int axis = -1;   ///< logical axis, -1 for none
  int weight = 0;  ///< rows or columns per step
  int step = 1;    ///< thread ids per step
  int extent = 1;
  bool thread = true;
};

template <class C, int M>
TILEFOUNDRY_HOST_DEVICE constexpr MeshMove mesh_move() {
  using F = FragmentOf<C>;
  using Mesh = typename F::Traits::mesh_type;
  constexpr int mode = F::Traits::split(M);
  MeshMove move;
  if constexpr (Mesh::template extent<M> != 1) {
    move.extent = Mesh::template extent<M>;
    move.step = Mesh::template step<M>();
    move.thread = Mesh::template scope<M>() == TopologyScope::thread;
    if constexpr (mode >= 0) {
      move.axis = F::map().axis[mode];
      move.weight = F::map().weight[mode];
    }
  }
  return move;
}

/// Whether thread ids move over the matrix as in an accumulator of tensor cores: thread bits 0, 1 by 2, 4
/// columns, bits 2, 3, 4 by 1, 2, 4 rows and, in those of a warpgroup (Bits 7), bits 5, 6 by 16, 32 rows;
/// whole warps (warpgroups) by multiples of 16 (64) rows or 8 columns.
template <class C, int Bits, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool threads_are_accumulator(cute::seq<M...>) {
  static_assert(Bits == 5 || Bits == 7, "a warp or a warpgroup");
  constexpr int axis_of_bit[7] = {1, 1, 0, 0, 0, 0, 0};
  constexpr int weight_of_bit[7] = {2, 4, 1, 2, 4, 16, 32};
  MeshMove const moves[] = {mesh_move<C, M>()..., MeshMove{}};
  int covered = 0;
  for (MeshMove const& move : moves) {
    if (move.extent == 1) continue;
    if (!move.thread || move.extent == 0) return false;
    int reach = 1;  // coordinate steps within a warp (warpgroup)
    if (move.step < (1 << Bits)) {
      if ((move.step & (move.step - 1)) != 0) return false;
      for (int bit = 0; bit < Bits; ++bit) {
        int const thread = 1 << bit;
        if (thread < move.step || thread >= move.step * move.extent) continue;
        if (move.axis != axis_of_bit[bit] || move.weight * (thread / move.step) != weight_of_bit[bit])
          return false;
        ++covered;
        reach *= 2;
      }
      if (move.extent % reach != 0) return false;
    }
    int const atom = move.axis != 0 ? 8 : Bits == 5 ? 16 : 64;
    if (move.extent > reach && move.weight * reach % atom != 0) return false;
  }
  return covered == Bits;
}

/// Tensor cores take 32 bytes of the reduced axis at a time, of which a lane reads words of 4 bytes.
template <class T>
inline constexpr int kMmaDepth = 32 / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kMmaWord = 4 / static_cast<int>(sizeof(T));

/// The type in which tensor cores accumulate products of T; void where there are no such instructions.
template <class T>
struct MmaAccumulator {
  using type = std::conditional_t<is_small_float_v<T>, float, void>;
};
template <>
struct MmaAccumulator<cute::float_ue8m0_t> {
  using type = void;
};
template <>
struct MmaAccumulator<int8_t> {
  using type = int32_t;
};

/// Whether the mesh of an accumulator of warpgroups is a single one.
template <class C, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool spans_one_warpgroup(cute::seq<M...>) {
  return (mesh_move<C, M>().extent * ... * 1) == 128;
}

/// Whether c holds products of T as tensor cores accumulate them.
template <class C, class T, int Bits>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_accumulator() {
  return std::is_same<typename C::value_type, typename MmaAccumulator<T>::type>::value &&
         FragmentAxis<C, 0>::pairs(8, Bits == 5 ? 16 : 64) && FragmentAxis<C, 1>::pairs(1, 8) &&
         threads_are_accumulator<C, Bits>(cute::make_seq<FragmentOf<C>::Traits::axes>{});
}

template <class A, class C, int M>
TILEFOUNDRY_HOST_DEVICE constexpr bool moves_as_left_operand() {
  constexpr MeshMove a = mesh_move<A, M>(), c = mesh_move<C, M>();
  if (a.extent == 1) return true;
  if ((a.axis == 0) != (c.axis == 0) || (a.axis == 0 && a.weight != c.weight)) return false;
  return a.axis != 1 || (a.thread && a.step * a.extent <= 4 && a.weight == 2 * a.step);
}

template <class A, class C, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool threads_are_left_operand(cute::seq<M...>) {
  return (moves_as_left_operand<A, C, M>() && ... && true);
}

/// Whether fragment `a` is distributed as the accumulator c: an instance holds the same rows of both, and the
/// columns of `a` lie on the four lanes of a quad, two neighbours of every eight.
template <class A, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_left_operand() {
  if constexpr (!std::is_same<typename FragmentOf<A>::Traits::mesh_type,
                              typename FragmentOf<C>::Traits::mesh_type>::value) {
    return false;
  } else {
    using RowsA = FragmentAxis<A, 0>;
    using RowsC = FragmentAxis<C, 0>;
    using K = FragmentAxis<A, 1>;
    if (RowsA::count != RowsC::count || !K::pairs(1, 8) ||
        4 * K::count != decltype(cute::size<1>(typename A::global_layout_type{}))::value ||
        K::blocks_together(0) * 2 != K::count) {
      return false;
    }
    for (int i = 0; i < RowsA::count; ++i) {
      if (RowsA::step(i) != RowsC::step(i)) return false;
    }
    return threads_are_left_operand<A, C>(cute::make_seq<FragmentOf<C>::Traits::axes>{});
  }
}

/// Registers of the A fragment of a 16 x 16 block of such a fragment: its row_block-th pair of rows, columns
/// from 16 step on. Neighbours share a register.
template <class A>
TILEFOUNDRY_DEVICE void pack_a(uint32_t (&fragment)[4], A const& a, int row_block, int step) {
  auto const part = local(a);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < 4; ++i) {
    int const row = FragmentAxis<A, 0>::offset(2 * row_block + i % 2), j = 4 * step + i / 2 * 2;
    uint32_t const low = part.data()[row + FragmentAxis<A, 1>::offset(j)].storage;
    uint32_t const high = part.data()[row + FragmentAxis<A, 1>::offset(j + 1)].storage;
    fragment[i] = low | high << 16;
  }
}

/// f(Int<0>{}), f(Int<1>{}), ..., f(Int<N - 1>{}).
template <class F, int... I>
TILEFOUNDRY_DEVICE void for_each_constant(F const& f, cute::seq<I...>) {
  (f(cute::Int<I>{}), ...);
}

/// Whether c += a @ b can run on tensor core instructions of 16 x 8 elements with c as it lies.
template <class A, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_m16n8_fragment() {
  using T = typename A::value_type;
  return decltype(cute::size<1>(typename A::global_layout_type{}))::value % kMmaDepth<T> == 0 &&
         (is_whole<A>::value || sizeof(T) == 2) && is_accumulator<C, T, 5>();
}

template <class A, class B, class C>
TILEFOUNDRY_HOST_DEVICE constexpr void check_mma() {
  static_assert(is_shard_tensor<A>::value && is_shard_tensor<B>::value && is_shard_tensor<C>::value,
                "ops::mma: operands are ShardTensors");
  using GA = typename A::global_layout_type;
  using GB = typename B::global_layout_type;
  using GC = typename C::global_layout_type;
  static_assert(decltype(cute::rank(GA{}))::value == 2 && decltype(cute::rank(GB{}))::value == 2 &&
                    decltype(cute::rank(GC{}))::value == 2,
                "ops::mma: operands are matrices");
  static_assert(decltype(cute::size<0>(GA{}))::value == decltype(cute::size<0>(GC{}))::value &&
                    decltype(cute::size<1>(GB{}))::value == decltype(cute::size<1>(GC{}))::value &&
                    decltype(cute::size<1>(GA{}))::value == decltype(cute::size<0>(GB{}))::value,
                "ops::mma: expected shapes (M, K), (K, N) and (M, N)");
  static_assert(std::is_same<typename A::value_type, typename B::value_type>::value,
                "ops::mma: a and b must have one element type");
  if constexpr (is_whole<B>::value && !is_whole<A>::value) {
    static_assert(is_left_operand<A, C>(),
                  "ops::mma: a must be a whole tile, or a fragment with the rows of c and its columns over "
                  "the lanes of a quad");
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
