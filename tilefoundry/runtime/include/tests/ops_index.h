// Ops that move elements by run-time indices, scans, transposes and sorts.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

using Runs = Mesh<Layout<Shape<_16, _8>, Stride<_8, _1>>, TopologyScope::thread>;
/// 16 x 64 with runs of eight columns, which packs may move.
using InRuns = ShardLayout<Layout<Shape<_16, _8, _8>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>, Runs>;
using OnePlace = Layout<Shape<_16>, Stride<_1>>;

/// A row-major tile in shared memory, and all of it as a window.
template <class T, int R, int C>
TILEFOUNDRY_DEVICE auto rows_at(int byte) {
  return shared_tensor<T>(cta_shared() + byte, Matrix<R, C>{}, Matrix<R, C>{});
}
template <int R, int C, class T>
TILEFOUNDRY_DEVICE auto all_of(T const& tile) {
  return make_window<Axes<0, 1>>(tile, make_coord(0, 0), Shape<Int<R>, Int<C>>{});
}

/// What every instance sees of a shared tile of 16 x 64.
template <class T>
TILEFOUNDRY_DEVICE void record_tile(T const& tile, Recorder& record) {
  ops::sync<SyncKind::cta>();
  using InTile =
      ShardLayout<Layout<Shape<_16, _8, _8>, Stride<Int<64>, _8, _1>>, cute::tuple<S<0>, S<1>>, Runs>;
  auto x = register_tensor<typename T::value_type>(Matrix<16, 64>{}, InRuns{});
  tilefoundry::copy(view(tile, Matrix<16, 64>{}, InTile{}), x);
  record(x);
  ops::sync<SyncKind::cta>();
}

/// Rows of a global tensor by number, into registers and into a tile.
template <class I, class Tensor>
TILEFOUNDRY_DEVICE void check_rows(Tensor const& table, int64_t rows, int64_t first, Recorder& record) {
  auto ids = shared_tensor<I>(cta_shared(), OnePlace{}, OnePlace{});
  int const thread = program_id<TopologyScope::thread>();
  if (thread < 16) ids.data()[thread] = static_cast<I>((thread * 7 + 3) % rows);
  ops::sync<SyncKind::cta>();
  auto const source = make_window<Axes<0, 1>>(table, make_coord(0, first), make_shape(rows, Int<64>{}));
  auto const index = make_window<Axes<0>>(ids, make_coord(0), Shape<_16>{});
  auto x = register_tensor<bfloat16_t>(Matrix<16, 64>{}, InRuns{});
  ops::gather(source, index, x, _0{});
  record(x);
  auto tile = rows_at<bfloat16_t, 16, 64>(1024);
  ops::gather(source, index, all_of<16, 64>(tile), _0{});
  record_tile(tile, record);
  // Columns of the tile, by an index for each element in registers.
  auto at = register_tensor<int32_t>(Matrix<16, 64>{}, InRuns{});
  ops::iota(at, _1{}, 63, -1);
  ops::gather(all_of<16, 64>(tile), at, x, _1{});
  record(x);
  ops::sync<SyncKind::cta>();
}

/// Updates of a tile in order and by atomic additions, of fragments, and of positions.
template <class T>
TILEFOUNDRY_DEVICE void check_updates(Recorder& record) {
  auto before = rows_at<T, 16, 64>(1024), update = rows_at<T, 16, 64>(1024 + 8192);
  auto after = rows_at<T, 16, 64>(1024 + 2 * 8192);
  auto ids = shared_tensor<int64_t>(cta_shared(), OnePlace{}, OnePlace{});
  int const thread = program_id<TopologyScope::thread>();
  for (int i = thread; i < 16 * 64; i += kThreads) {
    before.data()[i] = small<T>(i / 64, i % 64);
    update.data()[i] = small<T>(i / 64 + 5, i % 64);
  }
  if (thread < 16) ids.data()[thread] = thread * 5 % 7;
  ops::sync<SyncKind::cta>();
  auto const index = make_window<Axes<0>>(ids, make_coord(0), Shape<_16>{});
  auto const from = all_of<16, 64>(before), rows = all_of<16, 64>(update), to = all_of<16, 64>(after);
  ops::index_add(from, index, rows, to, _0{});
  record_tile(after, record);
  ops::index_copy(from, index, rows, to, _0{});
  record_tile(after, record);
  if constexpr (sizeof(T) != 1) {
    ops::scatter_add(index, rows, to, _0{});
    ops::sync<SyncKind::cta>();
    auto ones = register_tensor<T>(Matrix<16, 64>{}, InRuns{});
    ops::fill(ones, 1);
    ops::scatter_add(index, ones, to, _0{});
    record_tile(after, record);
  }
  using Lanes = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>;
  using Column = ShardLayout<Layout<Shape<_8, Int<128>>, Stride<_1, _0>>, cute::tuple<S<1>>, Lanes>;
  auto x = register_tensor<T>(Matrix<8, 128>{}, Column{});
  auto y = register_tensor<T>(Matrix<8, 128>{}, Column{});
  auto each = register_tensor<int32_t>(Matrix<8, 128>{}, Column{});
  ops::fill(x, 3);
  for (int k = 0; k < 8; ++k) {
    y.data()[k] = small<T>(k, thread);
    each.data()[k] = (k * 3 + thread) % 5;
  }
  ops::index_add(each, y, x, _0{});
  record(x);
  ops::index_copy(each, y, x, _0{});
  record(x);
}

template <class T>
TILEFOUNDRY_DEVICE void check_positions(Recorder& record) {
  using Tile = Layout<Shape<_4, _4, Int<64>>, Stride<Int<256>, Int<64>, _1>>;
  auto cache = shared_tensor<T>(cta_shared(), Tile{}, Tile{});
  auto fresh = shared_tensor<T>(cta_shared() + 8192, Tile{}, Tile{});
  auto out = shared_tensor<T>(cta_shared() + 16384, Tile{}, Tile{});
  for (int i = program_id<TopologyScope::thread>(); i < 1024; i += kThreads) {
    cache.data()[i] = small<T>(i / 64, i % 64);
    fresh.data()[i] = small<T>(i / 64 + 9, i % 64);
  }
  ops::sync<SyncKind::cta>();
  auto const all = [](auto const& tile) {
    return make_window<Axes<0, 1, 2>>(tile, make_coord(0, 0, 0), Shape<_4, _4, Int<64>>{});
  };
  ops::cache_update(all(cache), 1, 2, all(fresh), all(out));
  record_tile(rows_at<T, 16, 64>(16384), record);
}

/// Atomic additions in global memory: what is recorded, and then added to.
TILEFOUNDRY_DEVICE void check_additions_to_memory(Recorder& record) {
  float* const base = record.log;
  auto x = register_tensor<float>(Matrix<16, 64>{}, InRuns{});
  ops::fill(x, 0.f);
  record(x);
  ops::sync<SyncKind::cta>();
  auto const memory = cute::make_tensor(cute::make_gmem_ptr(base), Matrix<16, 64>{});
  auto index = register_tensor<int32_t>(Matrix<16, 64>{}, InRuns{});
  ops::iota(index, _1{}, 0, 1);
  ops::binary(op::floor_div{}, index, 5, index);
  ops::fill(x, 2.f);
  ops::scatter_add(index, x, make_window<Axes<0, 1>>(memory, make_coord(0, 0), Shape<_16, Int<64>>{}), _0{});
  ops::sync<SyncKind::cta>();
}

template <class T, class Op, bool Exclusive>
TILEFOUNDRY_DEVICE void check_scan(Recorder& record) {
  auto ws = rows_at<double, 64, 64>(0);
  auto const fill_small = [](auto& x) {
    auto const part = detail::elements(x);
    for (int i = 0; i < detail::FragmentOf<detail::remove_cvref_t<decltype(x)>>::count; ++i) {
      part(i) = small<T>(program_id<TopologyScope::thread>(), i);
    }
  };
  auto x = register_tensor<T>(Matrix<64, 32>{}, Accumulator<32>{});
  fill_small(x);
  ops::scan<Op, 1, Exclusive>(x, x, _1{});
  record(x);
  fill_small(x);
  ops::scan<Op, 0, Exclusive>(x, x, _0{}, ws);
  record(x);
  using Lanes = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>;
  using All = ShardLayout<Layout<Shape<_2, Int<128>, _2>, Stride<_2, _0, _1>>, cute::tuple<S<1>>, Lanes>;
  auto y = register_tensor<T>(Matrix<2, 256>{}, All{});
  for (int n = 0; n < 3; ++n) {
    fill_small(y);
    ops::scan<Op, 1, Exclusive>(y, y, _1{}, ws);
  }
  record(y);
}

template <class T>
TILEFOUNDRY_DEVICE void check_transpose(Recorder& record) {
  using Turned = ShardLayout<Layout<Shape<_32, _4, _16>, Stride<_0, _0, _1>>, cute::tuple<S<0>, S<1>>,
                             Mesh<Layout<Shape<_32, _4>, Stride<_4, _1>>, TopologyScope::thread>>;
  auto x = register_tensor<T>(Matrix<64, 32>{}, Accumulator<32>{});
  auto y = register_tensor<T>(Matrix<32, 64>{}, Turned{});
  ops::iota(x, _0{}, 0, 1);
  ops::transpose<Permutation<1, 0>>(x, y, rows_at<double, 64, 64>(0));
  record(y);
}

template <class T, bool Largest>
TILEFOUNDRY_DEVICE void check_order(Recorder& record) {
  auto x = rows_at<T, 16, 64>(0), values = rows_at<T, 16, 64>(8192);
  auto places = rows_at<int64_t, 16, 64>(16384);
  for (int i = program_id<TopologyScope::thread>(); i < 16 * 64; i += kThreads) {
    x.data()[i] =
        i % 37 == 5 && detail::is_float_v<T> ? convert<T>(__builtin_nanf("")) : small<T>(i / 64, i % 64);
  }
  ops::sync<SyncKind::cta>();
  ops::topk<Largest>(all_of<16, 64>(x), all_of<16, 64>(values), all_of<16, 64>(places), _1{});
  record_tile(values, record);
  record_tile(places, record);
  ops::topk<Largest>(all_of<16, 64>(x), all_of<16, 64>(values), all_of<16, 64>(places), _0{});
  record_tile(places, record);
}

/// What reads no matrix of the caller's, and has no variants therefore.
TILEFOUNDRY_DEVICE void check_own(Recorder& record) {
  check_updates<float>(record);
  check_updates<half_t>(record);
  check_updates<bfloat16_t>(record);
  check_updates<double>(record);
  check_updates<int32_t>(record);
  check_updates<int64_t>(record);
  check_updates<int8_t>(record);
  check_positions<half_t>(record);
  check_positions<double>(record);
  check_additions_to_memory(record);
  check_scan<float, op::sum, false>(record);
  check_scan<bfloat16_t, op::sum, true>(record);
  check_scan<int64_t, op::sum, false>(record);
  check_scan<double, op::max, false>(record);
  check_scan<int32_t, op::min, true>(record);
  check_transpose<float>(record);
  check_transpose<half_t>(record);
  check_transpose<int8_t>(record);
  check_transpose<double>(record);
  check_order<float, true>(record);
  check_order<half_t, false>(record);
  check_order<int32_t, true>(record);
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
  int64_t const rows = args.in.shape[0];
  auto const table = global_tensor<bfloat16_t, Vector>(args.in, make_shape(rows, args.in.shape[1]));
  check_rows<int32_t>(table, rows, 0, record);
  check_rows<int64_t>(table, rows, 8, record);
  check_rows<int64_t>(table, rows, 3, record);
  if constexpr (!Vector) check_own(record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
