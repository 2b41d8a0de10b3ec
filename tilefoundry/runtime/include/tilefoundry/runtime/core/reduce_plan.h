// What a reduction does at each level, from the layouts: which elements, which lanes, which warps.
#pragma once

#include <tilefoundry/runtime/core/coordinate.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Compile-time list of logical axes.
template <int... A>
struct Axes {
  static constexpr int count = sizeof...(A);
  TILEFOUNDRY_HOST_DEVICE static constexpr bool contains(int axis) { return ((axis == A) || ... || false); }

  /// Whether a tensor of `Rank` axes has them all.
  template <int Rank>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool within() {
    return ((A >= 0 && A < Rank) && ... && true);
  }

  /// Number of elements along the axes of a static layout.
  template <class Layout>
  TILEFOUNDRY_HOST_DEVICE static constexpr int product() {
    if constexpr (within<decltype(cute::rank(Layout{}))::value>()) {
      return (decltype(cute::size<A>(Layout{}))::value * ... * 1);
    } else {
      return 0;
    }
  }
};

namespace detail {

template <class ReducedAxes, class GL, class SL>
struct ReducePlan {
  using Reduced = ReducedAxes;
  using F = Fragment<GL, SL>;
  using Traits = ShardTraits<SL>;
  using Mesh = typename Traits::mesh_type;
  static_assert(F::valid,
                "ops::reduce: the modes of the shard layout must factor the logical extents in order");
  static_assert(ReducedAxes::template within<F::axes>(),
                "ops: the tensor has no such axis; they are counted from 0");

  static constexpr int mesh_axes = Traits::axes;

  /// Facts of a mesh axis: the extent of its part within a warp and of its part over warps.
  struct Axis {
    bool reduced = false;
    bool kept_split = false;
    bool cta = false;
    bool regular = true;
    int step = 1;
    int extent = 1;
    int lanes = 1;
    int warps = 1;
  };

  template <int M>
  TILEFOUNDRY_HOST_DEVICE static constexpr Axis axis() {
    constexpr int mode = Traits::split(M);
    Axis a;
    a.cta = Mesh::template scope<M>() == TopologyScope::cta;
    if constexpr (Mesh::template extent<M> != 1) {
      if constexpr (mode >= 0) a.reduced = ReducedAxes::contains(F::map().axis[mode]);
      a.kept_split = mode >= 0 && !a.reduced;
      a.step = Mesh::template step<M>();
      int const extent = Mesh::template extent<M>;
      a.extent = a.warps = extent;
      if (!a.cta && a.step < 32) {
        a.lanes = a.step * extent <= 32 ? extent : 32 / a.step;
        a.regular = (a.step & (a.step - 1)) == 0 && (a.lanes & (a.lanes - 1)) == 0 && extent % a.lanes == 0;
        a.warps = extent / a.lanes;
      }
    }
    return a;
  }

  TILEFOUNDRY_HOST_DEVICE static constexpr bool crosses_ctas() {
    return crosses_ctas(cute::make_seq<mesh_axes>{});
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr bool lanes_regular() {
    return lanes_regular(cute::make_seq<mesh_axes>{});
  }
  /// How many warp parts combine into one result.
  TILEFOUNDRY_HOST_DEVICE static constexpr int warps_reduced() {
    return warps_reduced(cute::make_seq<mesh_axes>{});
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr bool crosses_warps() { return warps_reduced() > 1; }
  /// Places in the workspace: one for each instance, but lanes that have been combined share one.
  TILEFOUNDRY_HOST_DEVICE static constexpr int slots() { return slots(cute::make_seq<mesh_axes>{}); }

  /// Whether a destination is split over exactly the mesh axes whose split src keeps.
  template <class DstSL>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool matches() {
    return matches<DstSL>(cute::make_seq<mesh_axes>{});
  }

  template <class Coords>
  TILEFOUNDRY_DEVICE static int slot(Coords const& coords) {
    return slot<true>(coords, cute::make_seq<mesh_axes>{});
  }
  template <class Coords>
  TILEFOUNDRY_DEVICE static int first_slot(Coords const& coords) {
    return slot<false>(coords, cute::make_seq<mesh_axes>{});
  }
  /// Distance from the first slot of a result to its `index`-th.
  TILEFOUNDRY_DEVICE static int slot_of_reduced(int index) {
    return slot_of_reduced(index, cute::make_seq<mesh_axes>{});
  }
  /// Whether the instance writes for the lanes that it has been combined with.
  template <class Coords>
  TILEFOUNDRY_DEVICE static bool leads(Coords const& coords) {
    return leads(coords, cute::make_seq<mesh_axes>{});
  }

  /// Walks over an instance's kept and reduced elements: storage offset = kept(i) + reduced(j).
  TILEFOUNDRY_HOST_DEVICE static constexpr auto kept_offsets() {
    return walk<false>(cute::make_seq<F::modes>{});
  }
  TILEFOUNDRY_HOST_DEVICE static constexpr auto reduced_offsets() {
    return walk<true>(cute::make_seq<F::modes>{});
  }
  static constexpr int kept = decltype(cute::size(kept_offsets()))::value;
  static constexpr int reduced = decltype(cute::size(reduced_offsets()))::value;
  static constexpr int total = ReducedAxes::template product<GL>();

 private:
  template <int... M>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool crosses_ctas(cute::seq<M...>) {
    return ((axis<M>().reduced && axis<M>().cta) || ... || false);
  }
  template <int... M>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool lanes_regular(cute::seq<M...>) {
    return ((!axis<M>().reduced || axis<M>().regular) && ... && true);
  }
  template <int... M>
  TILEFOUNDRY_HOST_DEVICE static constexpr int warps_reduced(cute::seq<M...>) {
    return ((axis<M>().reduced ? axis<M>().warps : 1) * ... * 1);
  }
  /// Extent of a mesh axis in the numbering of slots. An axis that is kept may cut warps anywhere.
  template <int M>
  TILEFOUNDRY_HOST_DEVICE static constexpr int places() {
    constexpr Axis a = axis<M>();
    return a.cta ? 1 : a.reduced ? a.warps : a.extent;
  }
  template <int... M>
  TILEFOUNDRY_HOST_DEVICE static constexpr int slots(cute::seq<M...>) {
    return (places<M>() * ... * 1);
  }
  template <class DstSL, int... M>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool matches(cute::seq<M...>) {
    using Dst = ShardTraits<DstSL>;
    if constexpr (Dst::axes == 0) {
      return (!axis<M>().kept_split && ... && true);
    } else {
      return Dst::axes == mesh_axes &&
             ((Mesh::template extent<M> == 1 || (Dst::split(M) >= 0) == axis<M>().kept_split) && ... && true);
    }
  }

  template <bool Own, class Coords, int... M>
  TILEFOUNDRY_DEVICE static int slot(Coords const& coords, cute::seq<M...>) {
    int result = 0;
    ((result = result * places<M>() + place<Own, M>(coords)), ...);
    return result;
  }
  template <bool Own, int M, class Coords>
  TILEFOUNDRY_DEVICE static int place(Coords const& coords) {
    constexpr Axis a = axis<M>();
    if constexpr (a.cta || (a.reduced && !Own)) {
      return 0;
    } else {
      return a.reduced ? static_cast<int>(cute::get<M>(coords)) / a.lanes
                       : static_cast<int>(cute::get<M>(coords));
    }
  }
  template <int... M>
  TILEFOUNDRY_DEVICE static int slot_of_reduced(int index, cute::seq<M...>) {
    int result = 0, weight = 1, places_below[mesh_axes + 1] = {places<M>()..., 1};
    int warps[mesh_axes + 1] = {(axis<M>().reduced ? axis<M>().warps : 1)..., 1};
    TILEFOUNDRY_UNROLL
    for (int m = mesh_axes - 1; m >= 0; --m) {
      result += index % warps[m] * weight;
      index /= warps[m];
      weight *= places_below[m];
    }
    return result;
  }
  template <class Coords, int... M>
  TILEFOUNDRY_DEVICE static bool leads(Coords const& coords, cute::seq<M...>) {
    return ((!axis<M>().reduced || axis<M>().cta ||
             static_cast<int>(cute::get<M>(coords)) % axis<M>().lanes == 0) &&
            ... && true);
  }
  template <bool Reduced, int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto walk(cute::seq<k...>) {
    constexpr auto map = F::map();
    using Shape = typename F::LocalShape;
    return row_major_walk(cute::make_shape(cute::Int<(ReducedAxes::contains(map.axis[k]) == Reduced
                                                          ? static_or<decltype(cute::size<k>(Shape{}))>(0)
                                                          : 1)>{}...),
                          cute::stride(SL{}.layout));
  }
};

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
