// Logical coordinates of the elements that an instance holds.
//
// The modes of the canonical layout G, in order, group by logical axis (C-order within an axis). A mode
// therefore adds weight * index to one logical coordinate, and an instance's elements are enumerated by plain
// static CuTe layouts, one for the storage offset and one for each logical coordinate. Enumeration is
// row-major (last mode fastest), so that contiguous fragments coalesce to one mode.
#pragma once

#include <tilefoundry/runtime/core/shard_tensor.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

template <int Modes>
struct ModeMap {
  int axis[Modes + 1] = {};    ///< logical axis of each mode
  int weight[Modes + 1] = {};  ///< step of that axis's coordinate for one step of the mode
  bool valid = true;
};

template <int Modes, int Axes>
TILEFOUNDRY_HOST_DEVICE constexpr ModeMap<Modes> map_modes(int const (&mode_extent)[Modes + 1],
                                                           int const (&axis_extent)[Axes + 1]) {
  ModeMap<Modes> map;
  int axis = 0, product = 1;
  for (int mode = 0; mode < Modes; ++mode) {
    if (mode_extent[mode] != 1) {
      while (axis < Axes && product == axis_extent[axis]) {
        ++axis;
        product = 1;
      }
      product *= mode_extent[mode];
      map.valid = map.valid && axis < Axes && mode_extent[mode] > 0 && axis_extent[axis] % product == 0;
    }
    map.axis[mode] = axis < Axes ? axis : Axes - 1;
  }
  while (axis < Axes && product == axis_extent[axis]) {
    ++axis;
    product = 1;
  }
  map.valid = map.valid && axis == Axes;
  for (int mode = Modes - 1, running = 1, current = -1; mode >= 0; --mode) {
    if (map.axis[mode] != current) {
      current = map.axis[mode];
      running = 1;
    }
    map.weight[mode] = mode_extent[mode] == 1 ? 0 : running;
    running *= mode_extent[mode];
  }
  return map;
}

/// Reversed (row-major) enumeration of the modes; coalesced so that contiguous runs are one mode.
template <class Shape, class Stride>
TILEFOUNDRY_HOST_DEVICE constexpr auto row_major_walk(Shape const& shape, Stride const& stride) {
  if constexpr (cute::tuple_size<Shape>::value == 0) {
    return cute::Layout<cute::_1, cute::_0>{};
  } else {
    return cute::coalesce(
        cute::make_layout(cute::reverse(cute::flatten(shape)), cute::reverse(cute::flatten(stride))));
  }
}

/// Compile-time map between the local elements of a ShardLayout SL and the logical shape of GL.
template <class GL, class SL>
struct Fragment {
  using Traits = ShardTraits<SL>;
  static constexpr int modes = Traits::modes;
  static constexpr int axes = decltype(cute::rank(GL{}))::value;

  template <int Axis>
  static constexpr int axis_extent = static_or<decltype(cute::size<Axis>(GL{}))>(0);

  TILEFOUNDRY_HOST_DEVICE static constexpr ModeMap<modes> map() {
    return make_map(cute::make_seq<modes>{}, cute::make_seq<axes>{});
  }

  /// Whether G groups by logical axis (extents static).
  static constexpr bool valid = map().valid;

  using LocalShape = decltype(shard_layout_local_shape(SL{}));

  /// Number of elements an instance holds.
  static constexpr int count = decltype(cute::size(LocalShape{}))::value;

  /// Layout from the row-major index of a local element to its storage offset.
  using Offsets = decltype(row_major_walk(LocalShape{}, cute::stride(SL{}.layout)));

  /// Layout from the row-major index of a local element to its share of a logical coordinate.
  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto steps() {
    return row_major_walk(LocalShape{}, weights<Axis>(cute::make_seq<modes>{}));
  }

  /// An instance holds, of a tensor, the product of one index set per logical axis. Layouts from the
  /// row-major index in the set of an axis to the storage offset and to the logical distance from the
  /// instance's first.
  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto axis_offsets() {
    return row_major_walk(axis_shape<Axis>(cute::make_seq<modes>{}), cute::stride(SL{}.layout));
  }
  template <int Axis>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto axis_steps() {
    return row_major_walk(axis_shape<Axis>(cute::make_seq<modes>{}), weights<Axis>(cute::make_seq<modes>{}));
  }

  /// The share of a logical coordinate that comes from the instance's mesh coordinate.
  template <int Axis, class Coords>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto origin(Coords const& coords) {
    return make_origin<Axis>(coords, cute::make_seq<Traits::axes>{});
  }

 private:
  template <int... k, int... a>
  TILEFOUNDRY_HOST_DEVICE static constexpr ModeMap<modes> make_map(cute::seq<k...>, cute::seq<a...>) {
    constexpr int mode_extent[modes + 1] = {Traits::template extent<k>..., 1};
    constexpr int extents[axes + 1] = {axis_extent<a>..., 1};
    return map_modes<modes, axes>(mode_extent, extents);
  }

  template <int Axis, int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto weights(cute::seq<k...>) {
    constexpr ModeMap<modes> m = map();
    return cute::make_stride(cute::Int<(m.axis[k] == Axis ? m.weight[k] : 0)>{}...);
  }

  template <int Axis, int... k>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto axis_shape(cute::seq<k...>) {
    constexpr ModeMap<modes> m = map();
    return cute::make_shape(
        cute::Int<(m.axis[k] == Axis ? static_or<decltype(cute::size<k>(LocalShape{}))>(0) : 1)>{}...);
  }

  template <int Axis, class Coords, int... A>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto make_origin(Coords const& coords, cute::seq<A...>) {
    return (term<Axis, A>(coords) + ... + cute::Int<0>{});
  }

  template <int Axis, int A, class Coords>
  TILEFOUNDRY_HOST_DEVICE static constexpr auto term(Coords const& coords) {
    constexpr int k = Traits::split(A);
    if constexpr (k < 0) {
      return cute::Int<0>{};
    } else {
      constexpr ModeMap<modes> m = map();
      if constexpr (m.axis[k] == Axis) {
        return cute::get<A>(coords) * cute::Int<m.weight[k]>{};
      } else {
        return cute::Int<0>{};
      }
    }
  }
};

template <class T>
using FragmentOf = Fragment<typename T::global_layout_type, typename T::shard_layout_type>;

/// A CuTe tensor that carries its distribution is distributed; any other one with a static layout is the
/// whole of itself.
template <class T>
TILEFOUNDRY_HOST_DEVICE constexpr decltype(auto) as_shard(T&& t) {
  using Tensor = remove_cvref_t<T>;
  if constexpr (is_shard_tensor<Tensor>::value) {
    return static_cast<T&&>(t);
  } else if constexpr (!cute::is_tensor<Tensor>::value) {
    static_assert(
        cute::is_tensor<Tensor>::value,
        "ops: an operand is a ShardTensor or a CuTe tensor; a raw pointer has no extents and no residency");
  } else if constexpr (is_shard_layout<typename Tensor::layout_type>::value) {
    auto const shard_layout = t.layout();
    auto const logical = cute::make_layout(shard_layout.shape(), cute::LayoutRight{});
    return make_shard_tensor(cute::make_tensor(t.data(), shard_layout.layout), logical, shard_layout);
  } else {
    auto logical = t.layout();
    return view(t, logical, WholeLayout<decltype(logical)>{logical, {}, {}});
  }
}

}  // namespace detail
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
