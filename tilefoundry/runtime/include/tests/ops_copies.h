// Golden: copies between fragments, views and plain tensors in every storage; what barriers of a CTA order.
#pragma once

#include "ops_common.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

constexpr int kGrid = 1;
constexpr bool kResident = false;

/// A value for an element, exact in every type that is copied.
TILEFOUNDRY_DEVICE float number(int row, int column) {
  return static_cast<float>((row * 5 + column * 3) % 100);
}

/// Where the elements of a fragment of SL stand.
template <int R, int C, class SL>
struct Places {
  decltype(register_tensor<int32_t>(Matrix<R, C>{}, SL{})) row =
      register_tensor<int32_t>(Matrix<R, C>{}, SL{});
  decltype(register_tensor<int32_t>(Matrix<R, C>{}, SL{})) column =
      register_tensor<int32_t>(Matrix<R, C>{}, SL{});
  static constexpr int count = decltype(size(row.engine))::value;

  TILEFOUNDRY_DEVICE Places() {
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
  }
  template <class X>
  TILEFOUNDRY_DEVICE void fill(X& x) const {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < count; ++i) {
      x.data()[i] = convert<typename X::value_type>(number(row.data()[i], column.data()[i]));
    }
  }
  template <class X>
  TILEFOUNDRY_DEVICE void check(Recorder& record, X const& x) const {
    TILEFOUNDRY_UNROLL
    for (int i = 0; i < count; ++i) {
      record.check(convert<float>(x.data()[i]), number(row.data()[i], column.data()[i]));
    }
  }
};

/// Every element of a whole tensor of T at `base`, by all instances.
template <int R, int C, class T, class F>
TILEFOUNDRY_DEVICE void check_whole(Recorder& record, T const* base, F const& offset) {
  ops::sync<SyncKind::cta>();
  int wrong = 0;
  TEST_ROLLED
  for (int i = 0; i < R * C; ++i) wrong += convert<float>(base[offset(i / C, i % C)]) != number(i / C, i % C);
  record.check(static_cast<float>(wrong), 0);
  ops::sync<SyncKind::cta>();
}

template <class T>
TILEFOUNDRY_DEVICE void clear(T* base, int count) {
  for (int i = program_id<kThread>(); i < count; i += kThreads) base[i] = convert<T>(-1.f);
  ops::sync<SyncKind::cta>();
}

/// A fragment of T in SL to plain tensors of U in global and shared memory and back, and to a view of a
/// shared tile whose layout is InTile over `Storage`.
template <class T, class U, int R, int C, class SL, class InTile, class Storage>
TILEFOUNDRY_DEVICE void check_copies(Args const& args, Recorder& record, InTile in_tile, Storage storage) {
  Places<R, C, SL> const places;
  auto x = register_tensor<T>(Matrix<R, C>{}, SL{});
  auto y = register_tensor<U>(Matrix<R, C>{}, SL{});
  auto* const global = static_cast<U*>(args.scratch.data);
  auto* const shared = reinterpret_cast<U*>(cta_shared());
  auto const rows = [](int i, int j) { return i * C + j; };
  places.fill(x);
  clear(global, R * C);
  tilefoundry::copy(x, make_tensor(make_gmem_ptr(global), Matrix<R, C>{}));
  check_whole<R, C>(record, global, rows);
  ops::fill(y, 99);
  tilefoundry::copy(make_tensor(make_gmem_ptr(global), Matrix<R, C>{}), y);
  places.check(record, y);
  clear(shared, R * C);
  tilefoundry::copy(x, make_tensor(make_smem_ptr(shared), Matrix<R, C>{}));
  check_whole<R, C>(record, shared, rows);
  ops::fill(y, 99);
  tilefoundry::copy(make_tensor(make_smem_ptr(shared), Matrix<R, C>{}), y);
  places.check(record, y);
  ops::sync<SyncKind::cta>();
  // A shared tile through a view with the same distribution.
  auto tile = shared_tensor<U>(cta_shared(), Matrix<R, C>{}, storage);
  clear(shared, static_cast<int>(cosize(storage)));
  tilefoundry::copy(x, view(tile, Matrix<R, C>{}, in_tile));
  check_whole<R, C>(record, shared, [&](int i, int j) { return storage(i, j); });
  ops::fill(y, 99);
  tilefoundry::copy(view(tile, Matrix<R, C>{}, in_tile), y);
  places.check(record, y);
  // Registers to registers, and to a plain tensor of the instance's size.
  auto z = register_tensor<T>(Matrix<R, C>{}, SL{});
  tilefoundry::copy(y, z);
  places.check(record, z);
  ops::sync<SyncKind::cta>();
}

template <class T, class U>
TILEFOUNDRY_DEVICE void check_types(Args const& args, Recorder& record) {
  // Runs of eight columns, in rows that are padded by a pack.
  using Rows = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
  using Split = cute::tuple<S<0>, S<1>, S<2>>;
  check_copies<T, U, 32, 32, ShardLayout<Layout<Shape<_4, _8, _4, _8>, Stride<_0, _0, _0, _1>>, Split, Rows>>(
      args, record,
      ShardLayout<Layout<Shape<_4, _8, _4, _8>, Stride<Int<320>, Int<40>, _8, _1>>, Split, Rows>{},
      Layout<Shape<_32, _32>, Stride<Int<40>, _1>>{});
  // Odd extents: three rows and five columns each, in rows of odd pitch.
  using Odd = Mesh<Layout<Shape<_4, _32>, Stride<_1, _4>>, kThread>;
  check_copies<
      T, U, 12, 160,
      ShardLayout<Layout<Shape<_4, _3, _32, _5>, Stride<_0, _5, _0, _1>>, cute::tuple<S<0>, S<2>>, Odd>>(
      args, record,
      ShardLayout<Layout<Shape<_4, _3, _32, _5>, Stride<Int<3 * 163>, Int<163>, _5, _1>>,
                  cute::tuple<S<0>, S<2>>, Odd>{},
      Layout<Shape<Int<12>, Int<160>>, Stride<Int<163>, _1>>{});
  // Replicas, and columns before rows.
  using Halves = Mesh<Layout<Shape<_2, _2, _32>, Stride<_64, _32, _1>>, kThread>;
  check_copies<
      T, U, 64, 6,
      ShardLayout<Layout<Shape<_2, _32, _6>, Stride<_0, _0, _1>>, cute::tuple<S<0>, B, S<1>>, Halves>>(
      args, record,
      ShardLayout<Layout<Shape<_2, _32, _6>, Stride<_32, _1, _64>>, cute::tuple<S<0>, B, S<1>>, Halves>{},
      Layout<Shape<_64, _6>, Stride<_1, _64>>{});
}

/// What barriers order: writes of others are seen after each, and the next writes come after all reads.
TILEFOUNDRY_DEVICE void check_barriers(Recorder& record) {
  int* const shared = reinterpret_cast<int*>(cta_shared());
  int const t = program_id<kThread>();
  int right = 0;
  constexpr int rounds = 50;
  TEST_ROLLED
  for (int n = 0; n < rounds; ++n) {
    shared[t] = 1000 * n + t;
    ops::sync<SyncKind::cta>();
    int const other = (t * 5 + n) % kThreads;
    right += shared[other] == 1000 * n + other;
    ops::sync<SyncKind::cta>();
  }
  record.check(static_cast<float>(right), rounds);
  right = 0;
  TEST_ROLLED
  for (int n = 0; n < rounds; ++n) {
    shared[t] = 1000 * n + t;
    ops::sync<SyncKind::warp>();
    right += shared[t ^ 31] == 1000 * n + (t ^ 31);
    ops::sync<SyncKind::warp>();
    // Half of the lanes.
    if (t % 32 < 16) {
      shared[t] = 2000 * n + t;
      ops::sync<SyncKind::warp, 0, 0, 0x0000ffffu>();
      right += shared[t ^ 15] == 2000 * n + (t ^ 15);
    }
    ops::sync<SyncKind::warp>();
  }
  record.check(static_cast<float>(right), static_cast<float>(t % 32 < 16 ? 2 * rounds : rounds));
  ops::sync<SyncKind::cta>();
  // Warps 1 and 2 meet; the others pass through, or meet at other barriers.
  right = 0;
  TEST_ROLLED
  for (int n = 0; n < rounds; ++n) {
    bool const inner = t >= 32 && t < 96;
    if (inner) shared[t] = 100 * n + t;
    ops::sync<SyncKind::named, 32, 64, 0u, 3>();
    if (inner) right += shared[127 - t] == 100 * n + 127 - t;
    ops::sync<SyncKind::named, 32, 64, 0u, 4>();
    ops::sync<SyncKind::named, 0, 32, 0u, 15>();
    ops::sync<SyncKind::named, 96, 32, 0u, 1>();
  }
  record.check(static_cast<float>(right), static_cast<float>(t >= 32 && t < 96 ? rounds : 0));
  ops::sync<SyncKind::cta>();
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
  check_barriers(record);
  check_types<float, float>(args, record);
  check_types<half_t, half_t>(args, record);
  check_types<float, bfloat16_t>(args, record);
  check_types<double, int8_t>(args, record);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
