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
  using T = typename Map::tensor_type::value_type;
  auto tile = shared_tensor<T, Swizzle<Bits, 4, 3>>(cta_shared(), Matrix<32, 64>{}, Storage{});
  ops::tile_load(map, make_coord(row, column), tile);
  using InRegisters = ShardLayout<Layout<Shape<_32, _4, _2, _8>, Stride<_0, _0, _8, _1>>, Split, Rows>;
  using InTile = ShardLayout<
      Layout<Shape<_32, _4, _2, _8>, Stride<Int<RowStride>, Int<2 * GroupStride>, Int<GroupStride>, _1>>,
      Split, Rows>;
  auto x = register_tensor<T>(Matrix<32, 64>{}, InRegisters{});
  tilefoundry::copy(view(tile, Matrix<32, 64>{}, InTile{}), x);
  record(x);
  ops::sync<SyncKind::cta>();
  auto y = register_tensor<T>(Matrix<32, 64>{}, InRegisters{});
  ops::tile_load(map, make_coord(row, column), y);
  record(y);
}

/// The same for elements of another size: rows of a matrix of T in memory of the test's own, and boxes stored
/// to it.
template <class T, bool Vector>
TILEFOUNDRY_DEVICE void check_elements(Args const& args, Recorder& record) {
  constexpr int rows = 45, columns = 77, pitch = Vector ? 80 : columns;
  auto* const memory = static_cast<T*>(args.scratch.data);
  TEST_ROLLED
  for (int i = program_id<kThread>(); i < rows * pitch; i += kThreads)
    memory[i] = small<T>(i / pitch, i % pitch);
  ops::sync<SyncKind::cta>();
  GlobalArg<2> const matrix{memory, {rows, columns}, {pitch, 1}};
  auto const whole = global_tensor<T, Vector>(matrix, make_shape(int64_t(rows), int64_t(columns)));
  auto const map = make_tile_map<Shape<_32, _64>>(whole);
  check_box<80, 8>(map, 0, 0, record);
  check_box<64, 8>(map, 16, 48, record);
  check_box<65, 8>(map, 3, 7, record);
  ops::sync<SyncKind::cta>();
  auto x = register_tensor<T>(Matrix<64, 32>{}, Accumulator<32>{});
  ops::iota(x, _1{}, 1, 1);
  auto const boxes = make_tile_map<Shape<_64, _32>>(whole);
  ops::tile_store(boxes, make_coord(0, 0), x);
  ops::tile_store(boxes, make_coord(5, 63), x);
  ops::sync<SyncKind::cta>();
  check_box<80, 8>(map, 0, 16, record);
  check_box<80, 8>(map, 20, 31, record);
  ops::sync<SyncKind::cta>();
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
  check_elements<int8_t, Vector>(args, record);
  check_elements<half_t, Vector>(args, record);
  check_elements<float, Vector>(args, record);
  check_elements<double, Vector>(args, record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
