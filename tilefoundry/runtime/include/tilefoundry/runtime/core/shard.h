// ShardLayout: how a tensor's elements are spread over a mesh.
#pragma once

#include <tilefoundry/runtime/core/mesh.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// Shard attributes, one per mesh axis.
namespace shard {
template <int Axis>
struct S {};  ///< Split along mode `Axis` of the canonical layout
struct B {};  ///< Broadcast: every instance along the axis holds a replica
template <class Reduction>
struct P {};        ///< Partial: the value is the reduction over the axis
struct Dynamic {};  ///< decided at run time; must be resolved before local()
}  // namespace shard

/// `layout` has the canonical shape G and storage-physical strides; `attrs` is a cute::tuple ordered by mesh
/// axis. An aggregate, and what cute::Tensor wants of a layout: a tensor may carry its distribution, whose
/// elements are then those of all instances together (see shard_partition()).
template <class Layout, class Attrs, class Mesh>
struct ShardLayout {
  Layout layout;
  Attrs attrs;
  Mesh mesh;

  static constexpr int rank = decltype(cute::rank(Layout{}))::value;
  TILEFOUNDRY_HOST_DEVICE constexpr decltype(auto) shape() const { return layout.shape(); }
  TILEFOUNDRY_HOST_DEVICE constexpr decltype(auto) stride() const { return layout.stride(); }
  template <class Coord>
  TILEFOUNDRY_HOST_DEVICE constexpr auto operator()(Coord const& coord) const {
    return layout(coord);
  }
};

template <class T>
struct is_shard_layout : cute::false_type {};
template <class Layout, class Attrs, class Mesh>
struct is_shard_layout<ShardLayout<Layout, Attrs, Mesh>> : cute::true_type {};

/// A layout that every instance of a CTA sees whole: shared memory tiles.
template <class Layout>
using WholeLayout = ShardLayout<Layout, cute::tuple<>, WholeMesh>;

namespace detail {

template <class Attr>
struct SplitMode {
  static constexpr int value = -1;
};
template <int Axis>
struct SplitMode<shard::S<Axis>> {
  static constexpr int value = Axis;
};

template <class T>
struct IsDynamic : cute::false_type {};
template <>
struct IsDynamic<shard::Dynamic> : cute::true_type {};

/// Compile-time facts of a ShardLayout.
template <class SL>
struct ShardTraits;

template <class Layout, class... Attrs, class Mesh>
struct ShardTraits<ShardLayout<Layout, cute::tuple<Attrs...>, Mesh>> {
  static_assert(sizeof...(Attrs) == Mesh::rank, "ShardLayout: one attribute per mesh axis");

  using mesh_type = Mesh;
  static constexpr int modes = decltype(cute::rank(Layout{}))::value;
  static constexpr int axes = Mesh::rank;
  static constexpr bool dynamic = (IsDynamic<Attrs>::value || ... || false);

  /// The mode that a mesh axis splits, -1 for Broadcast and Partial.
  TILEFOUNDRY_HOST_DEVICE static constexpr int split(int axis) {
    constexpr int split_modes[axes + 1] = {SplitMode<Attrs>::value..., -1};
    return split_modes[axis];
  }

  /// Number of mesh axes that split a mode.
  TILEFOUNDRY_HOST_DEVICE static constexpr int splits_of(int mode) {
    int count = 0;
    for (int axis = 0; axis < axes; ++axis) count += split(axis) == mode;
    return count;
  }

  TILEFOUNDRY_HOST_DEVICE static constexpr bool splits_exist() {
    for (int axis = 0; axis < axes; ++axis) {
      if (split(axis) >= modes) return false;
    }
    return true;
  }
  static_assert(splits_exist(), "ShardLayout: Split names a mode that the layout does not have");

  /// Product of the extents of the mesh axes that split a mode; 0 when known only at run time.
  template <int Mode>
  TILEFOUNDRY_HOST_DEVICE static constexpr int divisor() {
    return product_of_splits<Mode>(cute::make_seq<axes>{});
  }

  /// Extent of a mode of G and its storage stride: 0 / -1 when known only at run time.
  template <int Mode>
  static constexpr int extent = static_or<decltype(cute::size<Mode>(Layout{}))>(0);
  template <int Mode>
  static constexpr int stride = static_or<decltype(cute::stride<Mode>(Layout{}))>(-1);

  /// Whether local() may treat a mode: unsplit, or split by one mesh axis of the same extent.
  template <int Mode>
  TILEFOUNDRY_HOST_DEVICE static constexpr bool factored() {
    return splits_of(Mode) == 0 || (splits_of(Mode) == 1 && (extent<Mode> == 0 || divisor<Mode>() == 0 ||
                                                             extent<Mode> == divisor<Mode>()));
  }

 private:
  template <int Mode, int... A>
  TILEFOUNDRY_HOST_DEVICE static constexpr int product_of_splits(cute::seq<A...>) {
    return ((split(A) == Mode ? Mesh::template extent<A> : 1) * ... * 1);
  }
};

/// What one instance holds of mode k.
template <int k, class SL>
TILEFOUNDRY_HOST_DEVICE constexpr auto local_extent(SL const& sl) {
  using Traits = ShardTraits<SL>;
  if constexpr (Traits::splits_of(k) == 0) {
    return cute::size<k>(sl.layout);
  } else if constexpr (Traits::template extent<k> == 0 || Traits::template divisor<k>() == 0) {
    // A launch-provided extent: only the same symbol on both sides can be split, which leaves one element.
    return cute::Int<1>{};
  } else {
    static_assert(Traits::template extent<k> % Traits::template divisor<k>() == 0,
                  "ShardLayout: a split mode is not divisible by the extents of its mesh axes");
    return cute::Int<Traits::template extent<k> / Traits::template divisor<k>()>{};
  }
}

template <class SL, int... k>
TILEFOUNDRY_HOST_DEVICE constexpr auto local_shape(SL const& sl, cute::seq<k...>) {
  return cute::make_shape(local_extent<k>(sl)...);
}

}  // namespace detail

/// Shape of what one instance holds: each mode of G divided by the extents of the mesh axes that split it.
/// @return a cute shape, static where G and the mesh are
template <class Layout, class Attrs, class Mesh>
TILEFOUNDRY_HOST_DEVICE constexpr auto shard_layout_local_shape(ShardLayout<Layout, Attrs, Mesh> const& sl) {
  using Traits = detail::ShardTraits<ShardLayout<Layout, Attrs, Mesh>>;
  return detail::local_shape(sl, cute::make_seq<Traits::modes>{});
}

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry

/// For cute::make_tensor(pointer, shard_layout), and for what CuTe asks of the tensor.
namespace cute {

template <class Layout, class Attrs, class Mesh>
struct is_layout<tilefoundry::ShardLayout<Layout, Attrs, Mesh>> : true_type {};

#define TILEFOUNDRY_OF_LAYOUT(query)                                       \
  template <int... Is, class Layout, class Attrs, class Mesh>              \
  TILEFOUNDRY_HOST_DEVICE constexpr auto query(                            \
      tilefoundry::ShardLayout<Layout, Attrs, Mesh> const& shard_layout) { \
    return query<Is...>(shard_layout.layout);                              \
  }
TILEFOUNDRY_OF_LAYOUT(rank)
TILEFOUNDRY_OF_LAYOUT(shape)
TILEFOUNDRY_OF_LAYOUT(size)
TILEFOUNDRY_OF_LAYOUT(stride)
#undef TILEFOUNDRY_OF_LAYOUT

}  // namespace cute
