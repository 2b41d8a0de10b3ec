// Golden: coordinates of instances in meshes, and the offsets of what they own, beside the arithmetic of ids.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 8;
constexpr bool kResident = false;

template <class M, size_t... I, class... Wanted>
TILEFOUNDRY_DEVICE void check_axes(Recorder& record, M const& mesh, std::index_sequence<I...>,
                                   Wanted... wanted) {
  auto const index = mesh.local_index();
  (record.check(static_cast<float>(static_cast<int>(get<I>(index))), static_cast<float>(wanted)), ...);
}

/// Every axis of a mesh: the instance's coordinate, and what it must be.
template <class M, class... Wanted>
TILEFOUNDRY_DEVICE void check_mesh(Recorder& record, M const& mesh, Wanted... wanted) {
  static_assert(M::rank == sizeof...(Wanted), "one coordinate for each axis");
  check_axes(record, mesh, std::make_index_sequence<M::rank>{}, wanted...);
}

/// Offsets of a local view from the engine's first element, in CuTe order: `wanted(i)` for element i.
template <class Part, class Pointer, class F>
TILEFOUNDRY_DEVICE void check_offsets(Recorder& record, Part const& part, Pointer base, F const& wanted) {
  static_assert(is_static<decltype(part.layout())>::value, "local(): a static layout");
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < decltype(size(part))::value; ++i) {
    record.check(static_cast<float>(&part(i) - base), static_cast<float>(wanted(i)));
  }
}

/// The same layout in global and in shared memory. Nothing is accessed: `size` elements need not exist.
template <class Logical, class SL, class F>
TILEFOUNDRY_DEVICE void check_local(Recorder& record, Logical logical, SL sl, int size, F const& wanted) {
  auto* const global = record.log;
  auto const in_global = make_tensor(make_gmem_ptr(global), make_layout(size));
  check_offsets(record, local(make_shard_tensor(in_global, logical, sl)), global, wanted);
  auto* const shared = reinterpret_cast<float*>(cta_shared());
  auto const in_shared = make_tensor(make_smem_ptr(shared), make_layout(size));
  check_offsets(record, local(make_shard_tensor(in_shared, logical, sl)), shared, wanted);
}

/// A register fragment: as many registers as elements.
template <int Count, class Logical, class SL, class F>
TILEFOUNDRY_DEVICE void check_registers(Recorder& record, Logical logical, SL sl, F const& wanted) {
  auto mine = register_tensor<float>(logical, sl);
  static_assert(decltype(size(mine.engine))::value == Count, "registers of the fragment");
  check_offsets(record, local(mine), mine.data(), wanted);
}

#if TEST_THREADS == 128

TILEFOUNDRY_DEVICE void check_meshes(Recorder& record, int cta, int t) {
  check_mesh(record, Linear{}, t);
  check_mesh(record, Threads{}, t / 32, t / 4 % 8, t % 4);
  check_mesh(record, Mesh<Layout<Shape<_4, _32>, Stride<_1, _4>>, kThread>{}, t % 4, t / 4);
  check_mesh(record, Mesh<Layout<Shape<_32, _4>, Stride<_4, _1>>, kThread>{}, t / 4, t % 4);
  check_mesh(record, Mesh<Layout<Shape<_2, _4, _16>, Stride<_16, _32, _1>>, kThread>{}, t / 16 % 2, t / 32,
             t % 16);
  check_mesh(record, Mesh<Layout<Shape<_1, _4, _1, _32, _1>, Stride<_0, _32, _0, _1, _0>>, kThread>{}, 0,
             t / 32, 0, t % 32, 0);
  using Provided = Mesh<Layout<Shape<int, _4, _32>, Stride<Int<128>, _32, _1>>, kCta, kThread>;
  static_assert(Provided::scope<0>() == kCta && Provided::scope<2>() == kThread, "levels from the end");
  check_mesh(record, Provided{make_layout(make_shape(kGrid, _4{}, _32{}), Stride<Int<128>, _32, _1>{})}, cta,
             t / 32, t % 32);
  check_mesh(record, Mesh<Layout<Shape<_2, _4, Int<128>>, Stride<Int<512>, Int<128>, _1>>, kCta, kThread>{},
             cta / 4, cta % 4, t);
  check_mesh(record, Mesh<Layout<Shape<_8, _4, _32>, Stride<_1, _8, _32>>, kCta, kThread>{}, cta, t % 4,
             t / 4);
}

TILEFOUNDRY_DEVICE void check_layouts(Recorder& record, int cta, int t) {
  int const warp = t / 32, lane = t % 32;
  using Mesh3 = Mesh<Layout<Shape<_8, _4, _32>, Stride<Int<128>, _32, _1>>, kCta, kThread>;
  using Attrs3 = cute::tuple<S<0>, S<1>, S<3>>;
  using G5 = Shape<_8, _4, _3, _32, _4>;
  check_local(record, Matrix<8, 1536>{},
              ShardLayout<Layout<G5, Stride<Int<1536>, Int<384>, Int<128>, _4, _1>>, Attrs3, Mesh3>{},
              8 * 1536, [&](int i) { return 1536 * cta + 384 * warp + 128 * (i % 3) + 4 * lane + i / 3; });
  using Warps = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  check_local(record, Matrix<4, 8>{},
              ShardLayout<Layout<Shape<_4, _8>, Stride<_8, _1>>, cute::tuple<S<0>, B>, Warps>{}, 32,
              [&](int i) { return 8 * warp + i; });
  check_local(record, Layout<Shape<_32>, Stride<_1>>{},
              ShardLayout<Layout<Shape<_32>, Stride<_1>>, cute::tuple<shard::P<op::sum>, S<0>>, Warps>{}, 32,
              [&](int) { return lane; });
  // Odd extents, columns before rows, and a padded pitch.
  check_local(record, Layout<Shape<Int<12>, _5>, Stride<_1, Int<13>>>{},
              ShardLayout<Layout<Shape<_4, _3, _5>, Stride<_3, _1, Int<13>>>, cute::tuple<S<0>, B>, Warps>{},
              65, [&](int i) { return 3 * warp + i % 3 + 13 * (i / 3); });
  auto const strided = make_layout(make_shape(Int<128>{}, _4{}), make_stride(int64_t(40), int64_t(10)));
  ShardLayout<decltype(strided), cute::tuple<S<0>>, Linear> const sl{strided, {}, {}};
  auto const memory = make_tensor(make_gmem_ptr(record.log), make_layout(128 * 40));
  auto const part = local(make_shard_tensor(memory, Matrix<128, 4>{}, sl));
  record.check(static_cast<float>(&part(0, 3) - &memory(0)), static_cast<float>(t * 40 + 30));
  check_registers<12>(record, Matrix<8, 1536>{},
                      ShardLayout<Layout<G5, Stride<_0, _0, _4, _0, _1>>, Attrs3, Mesh3>{},
                      [](int i) { return 4 * (i % 3) + i / 3; });
}

/// Rows and columns that a thread's registers of an m16n8 accumulator stand for (PTX ISA, mma.m16n8k16).
TILEFOUNDRY_DEVICE void check_fragment(Recorder& record, int t) {
  auto row = register_tensor<int32_t>(Matrix<64, 32>{}, Accumulator<32>{});
  auto column = register_tensor<int32_t>(Matrix<64, 32>{}, Accumulator<32>{});
  ops::iota(row, _0{}, 0, 1);
  ops::iota(column, _1{}, 0, 1);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < 16; ++i) {
    record.check(static_cast<float>(row.data()[i]), static_cast<float>(t / 32 * 16 + t % 32 / 4 + i / 8 * 8));
    record.check(static_cast<float>(column.data()[i]), static_cast<float>(i % 8 / 2 * 8 + t % 4 * 2 + i % 2));
  }
}

#elif TEST_THREADS == 192

TILEFOUNDRY_DEVICE void check_meshes(Recorder& record, int cta, int t) {
  check_mesh(record, Linear{}, t);
  check_mesh(record, Mesh<Layout<Shape<_6, _32>, Stride<_32, _1>>, kThread>{}, t / 32, t % 32);
  check_mesh(record, Mesh<Layout<Shape<_3, _2, _8, _4>, Stride<_64, _32, _4, _1>>, kThread>{}, t / 64,
             t / 32 % 2, t / 4 % 8, t % 4);
  check_mesh(record, Mesh<Layout<Shape<_8, _6, _32>, Stride<Int<192>, _32, _1>>, kCta, kThread>{}, cta,
             t / 32, t % 32);
}

TILEFOUNDRY_DEVICE void check_layouts(Recorder& record, int, int t) {
  using Rows = Mesh<Layout<Shape<_6, _32>, Stride<_32, _1>>, kThread>;
  using G = Shape<_1, _6, _32, _8>;
  using Attrs = cute::tuple<S<1>, S<2>>;
  check_local(record, Matrix<1, 1536>{},
              ShardLayout<Layout<G, Stride<Int<1536>, Int<256>, _8, _1>>, Attrs, Rows>{}, 1536,
              [&](int i) { return 8 * t + i; });
  check_registers<8>(record, Matrix<1, 1536>{}, ShardLayout<Layout<G, Stride<_0, _0, _0, _1>>, Attrs, Rows>{},
                     [](int i) { return i; });
}

TILEFOUNDRY_DEVICE void check_fragment(Recorder&, int) {}

#elif TEST_THREADS == 32

TILEFOUNDRY_DEVICE void check_meshes(Recorder& record, int cta, int t) {
  check_mesh(record, Linear{}, t);
  check_mesh(record, Mesh<Layout<Shape<_4, _8>, Stride<_1, _4>>, kThread>{}, t % 4, t / 4);
  check_mesh(record, Mesh<Layout<Shape<_2, _16>, Stride<_16, _1>>, kThread>{}, t / 16, t % 16);
  check_mesh(record, Mesh<Layout<Shape<_2, _4, _32>, Stride<Int<128>, _32, _1>>, kCta, kThread>{}, cta / 4,
             cta % 4, t);
}

/// The operands and the result of mma.m16n8k16 in memory, by a warp whose quads count first.
TILEFOUNDRY_DEVICE void check_layouts(Recorder& record, int, int t) {
  using Warp = Mesh<Layout<Shape<_4, _8>, Stride<_1, _4>>, kThread>;
  int const q = t % 4, g = t / 4;
  check_local(record, Matrix<16, 16>{},
              ShardLayout<Layout<Shape<_2, _4, _2, _8, _2>, Stride<_1, _2, _8, _16, Int<128>>>,
                          cute::tuple<S<1>, S<3>>, Warp>{},
              256, [&](int i) { return 2 * q + 16 * g + i % 2 + i / 2 % 2 * 8 + i / 4 * 128; });
  check_local(
      record, Matrix<16, 8>{},
      ShardLayout<Layout<Shape<_8, _2, _4, _2>, Stride<_1, _8, _16, _64>>, cute::tuple<S<2>, S<0>>, Warp>{},
      128, [&](int i) { return 16 * q + g + i % 2 * 8 + i / 2 * 64; });
  check_local(
      record, Matrix<16, 8>{},
      ShardLayout<Layout<Shape<_2, _4, _8, _2>, Stride<_1, _2, _8, _64>>, cute::tuple<S<1>, S<2>>, Warp>{},
      128, [&](int i) { return 2 * q + 8 * g + i % 2 + i / 2 * 64; });
}

TILEFOUNDRY_DEVICE void check_fragment(Recorder&, int) {}

#else
#error "no cases for this number of threads"
#endif

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const&, Recorder& record) {
  int const cta = static_cast<int>(program_id<kCta>()), t = static_cast<int>(program_id<kThread>());
  record.check(static_cast<float>(program_dim<kCta>()), kGrid);
  record.check(static_cast<float>(program_dim<kThread>()), kThreads);
  check_meshes(record, cta, t);
  check_layouts(record, cta, t);
  check_fragment(record, t);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
