// Boxes of a tensor through shared tiles and fragments, by the instances.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

/// A box through a shared tile whose rows lie RowStride apart and whose columns come in eights GroupStride
/// apart, with 2^Bits permuted rows, and through a fragment.
template <int RowStride, int GroupStride, int Bits = 0, class Map>
TILEFOUNDRY_DEVICE void check_box(Map const& map, int row, int column, Recorder& record) {
  using Rows = Mesh<Layout<Shape<_32, _4>, Stride<_4, _1>>, TopologyScope::thread>;
  using Split = cute::tuple<S<0>, S<1>>;
  using Storage = Layout<Shape<_32, _8, _8>, Stride<Int<RowStride>, Int<GroupStride>, _1>>;
  auto tile = shared_tensor<bfloat16_t, Swizzle<Bits, 4, 3>>(cta_shared(), Matrix<32, 64>{}, Storage{});
  ops::tile_load(map, make_coord(row, column), tile);
  using InRegisters = ShardLayout<Layout<Shape<_32, _4, _2, _8>, Stride<_0, _0, _8, _1>>, Split, Rows>;
  using InTile = ShardLayout<
      Layout<Shape<_32, _4, _2, _8>, Stride<Int<RowStride>, Int<2 * GroupStride>, Int<GroupStride>, _1>>,
      Split, Rows>;
  auto x = register_tensor<bfloat16_t>(Matrix<32, 64>{}, InRegisters{});
  tilefoundry::copy(view(tile, Matrix<32, 64>{}, InTile{}), x);
  record(x);
  ops::sync<SyncKind::cta>();
  auto y = register_tensor<bfloat16_t>(Matrix<32, 64>{}, InRegisters{});
  ops::tile_load(map, make_coord(row, column), y);
  record(y);
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
  auto const shape = make_shape(args.in.shape[0], args.in.shape[1]);
  auto const map = make_tile_map<Shape<_32, _64>>(global_tensor<bfloat16_t, Vector>(args.in, shape));
  check_box<72, 8>(map, 0, 0, record);
  check_box<72, 8>(map, 32, 64, record);
  check_box<66, 8>(map, 16, 64, record);
  check_box<64, 8>(map, 3, 7, record);
  check_box<65, 8>(map, 48, 100, record);
  check_box<8, 264>(map, 16, 64, record);
  check_box<8, 264>(map, 3, 7, record);
  check_box<64, 8, 3>(map, 16, 64, record);
  check_box<64, 8, 3>(map, 3, 7, record);
  check_box<72, 8, 2>(map, 16, 64, record);
  check_box<64, 8, 1>(map, 40, 64, record);
  auto const out = make_tile_map<Shape<_64, _32>>(global_tensor<bfloat16_t, Vector>(args.out, shape));
  auto x = register_tensor<bfloat16_t>(Matrix<64, 32>{}, Accumulator<32>{});
  ops::iota(x, _1{}, 1, 1);
  ops::tile_store(out, make_coord(0, 0), x);
  ops::tile_store(out, make_coord(5, 39), x);
  ops::tile_store(out, make_coord(40, 80), x);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
