// Slices of the thread level: instances of a CTA with a role of their own, and a mesh over them.
#pragma once

#include <tilefoundry/runtime/core/mesh.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Instances First .. First + Count - 1 of a CTA: one, or whole warps.
template <int First, int Count>
struct ThreadSlice {
  static_assert(First >= 0 && (Count == 1 || (Count > 0 && Count % 32 == 0 && First % 32 == 0)),
                "ThreadSlice: one instance, or whole warps");
  static constexpr int first = First;
  static constexpr int count = Count;
  static constexpr int warps = (Count + 31) / 32;

  TILEFOUNDRY_DEVICE static bool contains() {
    return static_cast<unsigned>(target::thread_id() - First) < static_cast<unsigned>(Count);
  }
  /// The instance's place in the slice.
  TILEFOUNDRY_DEVICE static int rank() { return target::thread_id() - First; }
};

/// A mesh over the instances of a slice: its extents multiply to the slice's size. Only these instances may
/// hold fragments on it.
template <class Slice, class MeshLayout>
struct MeshSlice {
  MeshLayout mesh_layout;
  static constexpr auto topologies = cute::make_tuple(TopologyScope::thread);

  static constexpr int rank = decltype(cute::rank(MeshLayout{}))::value;
  static constexpr int levels = 1;
  static_assert(
      detail::is_flat<MeshLayout>(),
      "MeshSlice: the layout is flat, with one mode per mesh axis; flatten a nested one (cute::flatten)");

  template <int Axis>
  static constexpr int extent = detail::static_or<decltype(cute::size<Axis>(MeshLayout{}))>(0);

  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr TopologyScope scope() {
    return TopologyScope::thread;
  }

  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr int step() {
    return plan(cute::make_seq<rank>{}).step[Axis];
  }

  /// Full mesh coordinate of the running instance, as Mesh's.
  TILEFOUNDRY_DEVICE auto local_index() const noexcept {
    static_assert(plan(cute::make_seq<rank>{}).valid,
                  "MeshSlice: the extents must multiply to the slice's size, and the strides must enumerate "
                  "its instances");
    return coordinates(cute::make_seq<rank>{});
  }

 private:
  template <int... I>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto plan(cute::seq<I...>) {
    constexpr int extents[rank + 1] = {extent<I>..., 0};
    constexpr int strides[rank + 1] = {detail::static_or<decltype(cute::stride<I>(MeshLayout{}))>(1)..., 0};
    constexpr int sizes[levels + 1] = {Slice::count, 0};
    return detail::plan_mesh<rank, levels>(extents, strides, sizes);
  }

  template <int Axis>
  TILEFOUNDRY_DEVICE static auto coordinate() {
    if constexpr (extent<Axis> == 1) {
      return cute::Int<0>{};
    } else {
      constexpr unsigned axis_step = step<Axis>(), axis_extent = extent<Axis>;
      unsigned const index = static_cast<unsigned>(Slice::rank()) / axis_step;
      return static_cast<int>(axis_step * axis_extent == Slice::count ? index : index % axis_extent);
    }
  }

  template <int... I>
  TILEFOUNDRY_DEVICE static auto coordinates(cute::seq<I...>) {
    return cute::make_tuple(coordinate<I>()...);
  }
};

namespace detail {

template <class Mesh>
struct is_mesh_slice : cute::false_type {};
template <class Slice, class MeshLayout>
struct is_mesh_slice<MeshSlice<Slice, MeshLayout>> : cute::true_type {};

/// Who moves a tile: the instances of a slice, or all of the CTA (void).
template <class Slice, class Dependent>
struct Movers {
  static constexpr int count = Slice::count;
  TILEFOUNDRY_DEVICE static int rank() { return Slice::rank(); }
};
template <class Dependent>
struct Movers<void, Dependent> {
  static constexpr int count = static_program_dim<kThreadLevel<Dependent>>();
  TILEFOUNDRY_DEVICE static int rank() { return program_id<TopologyScope::thread>(); }
};

}  // namespace detail

namespace ops {

/// Registers per instance from here on, for all warps of a warpgroup together: a role that needs few gives
/// them up, one that needs more claims them (sm_90a; nothing elsewhere). `N` is a multiple of 8 in [24, 256].
template <int N>
TILEFOUNDRY_DEVICE void give_up_registers() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "ops::give_up_registers: a multiple of 8 in [24, 256]");
  target::give_up_registers<N>();
}
template <int N>
TILEFOUNDRY_DEVICE void claim_registers() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "ops::claim_registers: a multiple of 8 in [24, 256]");
  target::claim_registers<N>();
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
