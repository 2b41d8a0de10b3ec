// Bulk movement of tiles: make_tile_map, ops::tile_load, ops::tile_store. Elements outside the tensor load as
// zero and are not stored.
#pragma once

#include <tilefoundry/runtime/core/pipeline.h>
#include <tilefoundry/runtime/core/tile_move.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

/// A global tensor seen through boxes of a static shape. A plain view on this tier of hardware.
template <class Box, class Tensor>
struct TileMap {
  using box_type = Box;
  using tensor_type = Tensor;
  Tensor tensor;
};

/// @tparam Box static shape, one extent per axis of the tensor
/// @param tensor a whole tensor in global memory (see global_tensor)
template <class Box, class Tensor>
TILEFOUNDRY_HOST_DEVICE constexpr TileMap<Box, Tensor> make_tile_map(Tensor const& tensor) {
  static_assert(cute::is_static<Box>::value, "make_tile_map: the box has static extents");
  static_assert(cute::is_tensor<Tensor>::value && cute::is_gmem<typename Tensor::iterator>::value,
                "make_tile_map: the tensor must be a CuTe tensor in global memory");
  static_assert(decltype(cute::rank(Box{}))::value == Tensor::rank, "make_tile_map: one box extent per axis");
  return {tensor};
}

namespace ops {

/// Loads the box at `coord` (start elements, one per axis) into `dst`: a whole shared tile, loaded by all
/// instances of the CTA together and visible after Pipeline::wait, or a register fragment, of which each
/// instance loads its own part. The box and dst have the same extents, those of 1 aside.
template <class Box, class Tensor, class Coord, class Dst, int Stages>
TILEFOUNDRY_DEVICE void tile_load(TileMap<Box, Tensor> const& map, Coord const& coord, Dst&& dst,
                                  Pipeline<Stages>&) {
  TILEFOUNDRY_OP("tile_load");
  using D = detail::remove_cvref_t<Dst>;
  if constexpr (detail::is_shared_v<D>) {
    static_assert(detail::is_whole<D>::value, "ops::tile_load: a shared destination must be a whole tile");
    detail::load_shared(map, coord, dst);
  } else {
    detail::load_fragment(map, coord, dst);
  }
}

/// As above, at once: a shared tile is complete and visible to all instances when the call returns.
template <class Box, class Tensor, class Coord, class Dst>
TILEFOUNDRY_DEVICE void tile_load(TileMap<Box, Tensor> const& map, Coord const& coord, Dst&& dst) {
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

/// Stores `src`, a register fragment or a whole shared tile, to the box at `coord`. Of replicated instances
/// each writes the same value. A shared tile must be visible to all instances (a barrier before), and may be
/// overwritten only after another barrier.
template <class Box, class Tensor, class Coord, class Src>
TILEFOUNDRY_DEVICE void tile_store(TileMap<Box, Tensor> const& map, Coord const& coord, Src const& src) {
  TILEFOUNDRY_OP("tile_store");
  if constexpr (detail::is_shared_v<Src>) {
    static_assert(detail::is_whole<Src>::value, "ops::tile_store: a shared source must be a whole tile");
    detail::store_shared(map, coord, src);
  } else {
    detail::store_fragment(map, coord, src);
  }
}

}  // namespace ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
