// Which elements of a matrix fragment an instance holds, and whether they are those of an mma.sync
// accumulator.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/reducers.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// The rows (Axis 0) or columns (Axis 1) that an instance holds of a matrix.
template <class C, int Axis>
struct FragmentAxis {
  using F = FragmentOf<C>;
  static_assert(F::valid,
                "ops::mma: the modes of the accumulator's layout must factor the logical extents in order");
  using Offsets = decltype(F::template axis_offsets<Axis>());
  using Steps = decltype(F::template axis_steps<Axis>());
  static constexpr int count = decltype(cute::size(Steps{}))::value;

  /// Storage offset of the i-th row or column, and its logical distance from the instance's first.
  TILEFOUNDRY_HOST_DEVICE static constexpr int offset(int i) { return static_cast<int>(Offsets{}(i)); }
  TILEFOUNDRY_HOST_DEVICE static constexpr int step(int i) { return static_cast<int>(Steps{}(i)); }

  /// Whether rows or columns come in pairs `distance` apart whose first is a multiple of `atom`.
  TILEFOUNDRY_HOST_DEVICE static constexpr bool pairs(int distance, int atom) {
    if (count % 2 != 0) return false;
    for (int i = 0; i < count; i += 2) {
      if (step(i) % atom != 0 || step(i + 1) != step(i) + distance) return false;
    }
    return true;
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

/// Whether thread ids move over the matrix as in an m16n8 accumulator: lane bits 0, 1 by 2, 4 columns and
/// bits 2, 3, 4 by 1, 2, 4 rows; whole warps by multiples of 16 rows or 8 columns.
template <class C, int... M>
TILEFOUNDRY_HOST_DEVICE constexpr bool lanes_are_m16n8(cute::seq<M...>) {
  constexpr int axis_of_bit[5] = {1, 1, 0, 0, 0};
  constexpr int weight_of_bit[5] = {2, 4, 1, 2, 4};
  MeshMove const moves[] = {mesh_move<C, M>()..., MeshMove{}};
  int covered = 0;
  for (MeshMove const& move : moves) {
    if (move.extent == 1) continue;
    if (!move.thread || move.extent == 0) return false;
    int reach = 1;  // coordinate steps within a warp
    if (move.step < 32) {
      if ((move.step & (move.step - 1)) != 0) return false;
      for (int bit = 0; bit < 5; ++bit) {
        int const lane = 1 << bit;
        if (lane < move.step || lane >= move.step * move.extent) continue;
        if (move.axis != axis_of_bit[bit] || move.weight * (lane / move.step) != weight_of_bit[bit])
          return false;
        ++covered;
        reach *= 2;
      }
      if (move.extent % reach != 0) return false;
    }
    int const atom = move.axis == 0 ? 16 : 8;
    if (move.extent > reach && move.weight * reach % atom != 0) return false;
  }
  return covered == 5;
}

/// Whether c += a @ b can run on m16n8k16 tensor core instructions with c as it lies.
template <class A, class C>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_m16n8_fragment() {
  if constexpr (!std::is_same<typename C::value_type, float>::value ||
                decltype(cute::size<1>(typename A::global_layout_type{}))::value % 16 != 0) {
    return false;
  } else {
    return FragmentAxis<C, 0>::pairs(8, 16) && FragmentAxis<C, 1>::pairs(1, 8) &&
           lanes_are_m16n8<C>(cute::make_seq<FragmentOf<C>::Traits::axes>{});
  }
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
  static_assert(is_whole<A>::value && is_whole<B>::value, "ops::mma: a and b must be whole tiles");
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
