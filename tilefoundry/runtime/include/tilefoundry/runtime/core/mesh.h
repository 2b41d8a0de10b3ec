// Mesh: a CuTe layout whose axes map to topology levels.
#pragma once

#include <tilefoundry/runtime/core/program.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// Which level owns each mesh axis, and the axis's place in that level: id = sum of step * coordinate.
template <int Rank, int Levels>
struct MeshPlan {
  int owner[Rank + 1] = {};
  int step[Rank + 1] = {};
  bool valid = true;
};

/// Axes are matched from the end: each level, deepest first, takes trailing axes until their product is its
/// size. A launch-provided level (size 0) takes what the other levels leave. Extents that are not static are
/// 0.
template <int Rank, int Levels>
TILEFOUNDRY_HOST_DEVICE constexpr MeshPlan<Rank, Levels> plan_mesh(int const (&extent)[Rank + 1],
                                                                   int const (&stride)[Rank + 1],
                                                                   int const (&size)[Levels + 1]) {
  MeshPlan<Rank, Levels> plan;
  int first = 0, last = Rank, level = Levels - 1;
  for (; level >= 0 && size[level] != 0; --level) {
    int product = 1;
    while (product != size[level] && last > first) {
      plan.owner[--last] = level;
      product *= extent[last];
    }
    plan.valid = plan.valid && product == size[level];
  }
  for (int front = 0; front < level; ++front) {
    int product = 1;
    while (product != size[front] && first < last) {
      plan.owner[first] = front;
      product *= extent[first++];
    }
    plan.valid = plan.valid && product == size[front] && size[front] != 0;
  }
  for (int axis = first; axis < last; ++axis) {
    plan.owner[axis] = level >= 0 ? level : 0;
    plan.valid = plan.valid && (level >= 0 || extent[axis] == 1);
  }
  // Within a level the strides order the axes; relative to the smallest they must enumerate the level's ids
  // exactly.
  for (int axis = 0; axis < Rank; ++axis) {
    if (extent[axis] == 1) continue;
    int step = 1;
    for (int other = 0; other < Rank; ++other) {
      if (plan.owner[other] == plan.owner[axis] && other != axis && extent[other] != 1 &&
          stride[other] < stride[axis]) {
        step *= extent[other];
      }
    }
    int smallest = stride[axis];
    for (int other = 0; other < Rank; ++other) {
      if (plan.owner[other] == plan.owner[axis] && extent[other] != 1 && stride[other] < smallest) {
        smallest = stride[other];
      }
    }
    plan.step[axis] = step;
    plan.valid = plan.valid && step > 0 && smallest * step == stride[axis];
  }
  return plan;
}

template <class Value>
TILEFOUNDRY_HOST_DEVICE constexpr int static_or(int otherwise) {
  if constexpr (cute::is_static<Value>::value) {
    return Value::value;
  } else {
    return otherwise;
  }
}

template <class Layout>
TILEFOUNDRY_HOST_DEVICE constexpr bool is_flat() {
  if constexpr (decltype(cute::rank(Layout{}))::value == 0) {
    return true;
  } else {
    return decltype(cute::depth(Layout{}))::value <= 1;
  }
}

}  // namespace detail

/// A device mesh. `MeshLayout` is a flat CuTe layout, one mode per mesh axis; `Topos` are the levels it
/// covers, coarsest first. An axis that straddles two levels is refused at compile time.
template <class MeshLayout, TopologyScope... Topos>
struct Mesh {
  MeshLayout mesh_layout;
  static constexpr auto topologies = cute::make_tuple(Topos...);

  static constexpr int rank = decltype(cute::rank(MeshLayout{}))::value;
  static constexpr int levels = sizeof...(Topos);
  static_assert(
      detail::is_flat<MeshLayout>(),
      "Mesh: the layout is flat, with one mode per mesh axis; flatten a nested one (cute::flatten)");

  /// The extent of a mesh axis, 0 when it is known only at run time.
  template <int Axis>
  static constexpr int extent = detail::static_or<decltype(cute::size<Axis>(MeshLayout{}))>(0);

  /// The level that owns a mesh axis.
  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr TopologyScope scope() {
    constexpr TopologyScope scopes[levels + 1] = {Topos..., TopologyScope::scope_count};
    return scopes[plan().owner[Axis]];
  }

  /// How far the level's linear id moves for one step along a mesh axis.
  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr int step() {
    return plan().step[Axis];
  }

  /// Full mesh coordinate of the running instance: a tuple with one integer per axis (static 0 for extent 1).
  TILEFOUNDRY_HOST_DEVICE auto local_index() const noexcept {
    static_assert(
        plan().valid,
        "Mesh: the extents of a topology's axes must multiply to its size, matched from the last axis, and "
        "their strides must enumerate its ids");
    return coordinates(cute::make_seq<rank>{});
  }

 private:
  template <int... I>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto make_plan(cute::seq<I...>) {
    constexpr int extents[rank + 1] = {extent<I>..., 0};
    constexpr int strides[rank + 1] = {detail::static_or<decltype(cute::stride<I>(MeshLayout{}))>(1)..., 0};
    constexpr int sizes[levels + 1] = {detail::static_program_dim<Topos>()..., 0};
    return detail::plan_mesh<rank, levels>(extents, strides, sizes);
  }

  TILEFOUNDRY_HOST_DEVICE static constexpr auto plan() { return make_plan(cute::make_seq<rank>{}); }

  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE auto coordinate() const {
    if constexpr (extent<Axis> == 1) {
      return cute::Int<0>{};
    } else {
      constexpr unsigned axis_step = step<Axis>();
      constexpr unsigned axis_extent = extent<Axis>;
      constexpr unsigned level_size = detail::static_program_dim<scope<Axis>()>();
      unsigned const index = static_cast<unsigned>(program_id<scope<Axis>()>()) / axis_step;
      if constexpr (axis_extent == 0 || axis_step * axis_extent == level_size) {
        return static_cast<int>(index);
      } else {
        return static_cast<int>(index % axis_extent);
      }
    }
  }

  template <int... I>
  TILEFOUNDRY_HOST_DEVICE auto coordinates(cute::seq<I...>) const {
    return cute::make_tuple(coordinate<I>()...);
  }
};

/// The mesh without axes: every instance of a CTA sees the same whole tensor.
using WholeMesh = Mesh<cute::Layout<cute::tuple<>, cute::tuple<>>>;

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
