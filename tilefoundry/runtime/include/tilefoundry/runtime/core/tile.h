// Bulk movement of tiles: make_tile_map, ops::tile_load, ops::tile_store. Elements outside the tensor load as
// zero and are not stored.
#pragma once

#include <tilefoundry/runtime/core/pipeline.h>
#include <tilefoundry/runtime/core/tile_bulk.h>
#include <tilefoundry/runtime/core/tile_move.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace detail {

/// A global tensor seen through boxes of a static shape, and how these move.
template <class Box, class Tensor, class Movement>
struct TileMap {
  using box_type = Box;
  using tensor_type = Tensor;
  Tensor tensor;
  Movement movement;
};

template <class Box, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr void check_tile_map() {
  static_assert(cute::is_static<Box>::value, "make_tile_map: the box has static extents");
  if constexpr (cute::is_tensor<Tensor>::value) {
    static_assert(cute::is_gmem<typename Tensor::iterator>::value,
                  "make_tile_map: the tensor must be a CuTe tensor in global memory");
    static_assert(decltype(cute::rank(Box{}))::value == Tensor::rank,
                  "make_tile_map: one box extent per axis");
  } else {
    static_assert(cute::is_tensor<Tensor>::value,
                  "make_tile_map: the tensor must be a CuTe tensor in global memory");
  }
}

/// Starts storing a whole shared tile. @tparam InFlight whether it is read after the call, too
template <class Slice, bool InFlight, class Box, class Tensor, class Movement, class Coord, class Src>
TILEFOUNDRY_DEVICE void start_store(TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                    Src const& src) {
  static_assert(is_shared_v<Src> && is_whole<Src>::value,
                "ops::tile_store: a shared source must be a whole tile");
  if constexpr (is_bulk<Box, Tensor, Movement, Src>()) {
    if (bulk_reaches<true>(map, coord)) {
      if (Movers<Slice, Src>::rank() == 0) bulk_store(map, coord, src);
      return;
    }
  }
  store_shared<Slice>(map, coord, src);
#if defined(TILEFOUNDRY_CHECKED)
  if (Movers<Slice, Src>::rank() == 0) read_by_bulk_copy<InFlight>(src);
#endif
}

}  // namespace detail

/// @tparam Box static shape, one extent per axis of the tensor
/// @param tensor a whole tensor in global memory (see global_tensor)
template <class Box, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr auto make_tile_map(Tensor const& tensor)
    -> detail::TileMap<Box, Tensor, detail::ByInstances> {
  detail::check_tile_map<Box, Tensor>();
  return {tensor, {}};
}

/// The same for boxes that move in bulk (TMA) on sm_90 and later, where the tensor was made as Vector;
/// elsewhere the instances copy.
/// @tparam Swizzle that of the shared tiles, whose rows it makes 16 * 2^B bytes long, one column of such rows
///   after the other (cute::Swizzle<B, 4, 3>); for B = 0 tiles are dense. Tiles start at multiples of 1024
///   (B = 0: 128) bytes. Other tiles are copied by the instances.
/// @tparam Shares CTAs of a cluster that load the same boxes at the same time: each brings its part to all
/// @param map the host's, made for this box, swizzle and number of shares: a field of the kernel's
///   __grid_constant__ argument
template <class Box, class Swizzle = cute::Swizzle<0, 4, 3>, int Shares = 1, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr auto make_tile_map(Tensor const& tensor, TensorMap const& map)
    -> detail::TileMap<Box, Tensor, detail::InBulk<Swizzle::num_bits, Shares>> {
  detail::check_tile_map<Box, Tensor>();
  static_assert(Swizzle::num_base == 4 && Swizzle::num_shft == 3 && Swizzle::num_bits <= 3,
                "make_tile_map: a swizzle of bulk copies is cute::Swizzle<B, 4, 3> with B from 0 to 3");
  static_assert(Shares >= 1, "make_tile_map: at least one CTA brings a box");
  return {tensor, {&map}};
}

namespace ops {

/// Loads the box at `coord` (start elements, one per axis) into `dst`: a whole shared tile, loaded by all
/// instances of the CTA together and visible after Pipeline::wait, or a register fragment, of which each
/// instance loads its own part. The box and dst have the same extents, those of 1 aside.
template <class Box, class Tensor, class Movement, class Coord, class Dst, int Stages>
TILEFOUNDRY_DEVICE void tile_load(detail::TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                  Dst&& dst, Pipeline<Stages>&) {
  TILEFOUNDRY_OP("tile_load");
  using D = detail::remove_cvref_t<Dst>;
  if constexpr (detail::is_shared_v<D>) {
    static_assert(detail::is_whole<D>::value, "ops::tile_load: a shared destination must be a whole tile");
    detail::load_shared<void>(map, coord, dst);
  } else {
    detail::load_fragment(map, coord, dst);
  }
}

/// Loads a whole shared tile by the producers of a pipeline, in bulk where the map and the tile allow it. A
/// map whose boxes CTAs share brings the tile to all of the cluster.
template <class Box, class Tensor, class Movement, class Coord, class Dst, int Stages, class Producer,
          class Consumer, int Cluster>
TILEFOUNDRY_DEVICE void tile_load(detail::TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                  Dst&& dst, Pipeline<Stages, Producer, Consumer, Cluster>& pipe) {
  TILEFOUNDRY_OP("tile_load");
  using D = detail::remove_cvref_t<Dst>;
  static_assert(detail::is_shared_v<D> && detail::is_whole<D>::value,
                "ops::tile_load: producers load whole shared tiles");
  static_assert(Movement::shares == 1 || Movement::shares == Cluster,
                "ops::tile_load: the CTAs that share a map's boxes are those of the pipeline's cluster");
  if constexpr (detail::is_bulk<Box, Tensor, Movement, D>()) {
    if (detail::bulk_reaches<false>(map, coord)) {
      if (pipe.starts_copies()) detail::bulk_load(map, coord, dst, pipe.arrivals());
      return;
    }
  }
  pipe.copied_by_instances();
  detail::load_shared<Producer>(map, coord, dst);
}

/// As the first, at once: a shared tile is complete and visible to all instances when the call returns.
template <class Box, class Tensor, class Movement, class Coord, class Dst>
TILEFOUNDRY_DEVICE void tile_load(detail::TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                  Dst&& dst) {
  TILEFOUNDRY_OP("tile_load");
  using D = detail::remove_cvref_t<Dst>;
  if constexpr (detail::is_shared_v<D>) {
    Pipeline<1> pipe;
    tile_load(map, coord, dst, pipe);
    pipe.commit();
    pipe.template wait<0>();
  } else {
    detail::load_fragment(map, coord, dst);
  }
}

/// Starts storing a whole shared tile to the box at `coord`, by the instances of `Slice` (void: the CTA). The
/// tile must be visible to all of them (a barrier before), and may be overwritten after tile_store_wait and
/// another barrier.
template <class Slice = void, class Box, class Tensor, class Movement, class Coord, class Src>
TILEFOUNDRY_DEVICE void tile_store_issue(detail::TileMap<Box, Tensor, Movement> const& map,
                                         Coord const& coord, Src const& src) {
  TILEFOUNDRY_OP("tile_store");
  detail::start_store<Slice, true>(map, coord, src);
}

/// By the instances that issued them: at most `Pending` of the stores may still read their tiles.
template <int Pending = 0>
TILEFOUNDRY_DEVICE void tile_store_wait() {
  static_assert(Pending >= 0, "ops::tile_store_wait: the number of stores in flight must not be negative");
  target::bulk_store_wait_read<Pending>();
}

/// Stores `src`, a register fragment or a whole shared tile, to the box at `coord`. Of replicated instances
/// each writes the same value. A shared tile must be visible to all instances (a barrier before), and may be
/// overwritten only after another barrier.
template <class Slice = void, class Box, class Tensor, class Movement, class Coord, class Src>
TILEFOUNDRY_DEVICE void tile_store(detail::TileMap<Box, Tensor, Movement> const& map, Coord const& coord,
                                   Src const& src) {
  TILEFOUNDRY_OP("tile_store");
  if constexpr (detail::is_shared_v<Src>) {
    detail::start_store<Slice, false>(map, coord, src);
    if constexpr (detail::is_bulk<Box, Tensor, Movement, Src>()) target::bulk_store_wait<0>();
  } else {
    detail::store_fragment(map, coord, src);
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
