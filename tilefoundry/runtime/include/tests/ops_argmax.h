// Golden: argmax and argmin over meshes.
#pragma once

#include "ops_reduce_meshes.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

/// Where the first of the greatest values is, and of the least. NaN counts as the greatest and as the least.
struct ArgMax {
  using Op = op::argmax;
  template <class T>
  using Result = int64_t;
  template <class Value>
  TILEFOUNDRY_DEVICE static int golden(int count, Value const& value) {
    int best = 0;
    TEST_ROLLED
    for (int k = 1; k < count && value(best) == value(best); ++k) {
      if (!(value(k) <= value(best))) best = k;
    }
    return best;
  }
};
struct ArgMin {
  using Op = op::argmin;
  template <class T>
  using Result = int32_t;
  template <class Value>
  TILEFOUNDRY_DEVICE static int golden(int count, Value const& value) {
    return ArgMax::golden(count, [&](int k) { return -value(k); });
  }
};

struct Places {
  template <class T, int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
  TILEFOUNDRY_DEVICE static void ops(Recorder& record, int64_t repetitions) {
    check<ArgMax, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<ArgMin, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
  }

  template <int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
  TILEFOUNDRY_DEVICE static void types(Recorder& record, int64_t repetitions) {
    ops<float, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<ArgMax, double, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<ArgMin, int32_t, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<ArgMax, half_t, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
  }
};

#if TEST_THREADS == 128

/// One row, of whose places the most significant part is over lanes and the least over warps: neither the
/// order of instances nor that of a thread's elements is that of the axis.
constexpr int kWoven = 384;
using Lanewise = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
using Woven =
    ShardLayout<Layout<Shape<_1, _32, _3, _4>, Stride<_0, _0, _1, _0>>, cute::tuple<S<3>, S<1>>, Lanewise>;
using One = ShardLayout<Layout<Shape<_1, _1>, Stride<_0, _0>>, cute::tuple<B, B>, Lanewise>;

/// Both ops on a row of value(place).
template <class T, class Value>
TILEFOUNDRY_DEVICE void check_woven(Recorder& record, Value const& value) {
  using Words = Layout<Shape<Int<kWorkspace / 4>>, Stride<_1>>;
  auto x = register_tensor<T>(Matrix<1, kWoven>{}, Woven{});
  auto place = register_tensor<int32_t>(Matrix<1, kWoven>{}, Woven{});
  auto greatest = register_tensor<int64_t>(Matrix<1, 1>{}, One{});
  auto least = register_tensor<int32_t>(Matrix<1, 1>{}, One{});
  auto ws = shared_tensor<float>(cta_shared(), Words{}, Words{});
  ops::iota(place, _1{}, 0, 1);
  TILEFOUNDRY_UNROLL
  for (int i = 0; i < 3; ++i) x.data()[i] = convert<T>(value(place.data()[i]));
  auto const stored = [&](int k) { return convert<double>(convert<T>(value(k))); };
  ops::fill(greatest, -1);
  ops::reduce<op::argmax, Axes<1>>(x, greatest, ws);
  record.check(convert<float>(greatest.data()[0]), static_cast<float>(ArgMax::golden(kWoven, stored)));
  ops::fill(least, -1);
  ops::reduce<op::argmin, Axes<1>>(x, least, ws);
  record.check(convert<float>(least.data()[0]), static_cast<float>(ArgMin::golden(kWoven, stored)));
}

/// Rows of integers: every element another, all equal, and few kinds. The rows have one type, so that the ops
/// are compiled once for each T.
struct Numbers {
  static constexpr int kRows = 3;
  int row;
  TILEFOUNDRY_DEVICE int operator()(int k) const {
    if (row == 0) return (k * 29 + 190) % 101 - 40;
    if (row == 1) return 1;
    return k % 3 == 2 ? 0 : k > 20 && k < 300 ? 1 : 0;
  }
};

/// Rows with NaN, infinities and zeros of either sign.
struct Floats {
  static constexpr int kRows = 5;
  int row;
  TILEFOUNDRY_DEVICE float operator()(int k) const {
    float const nan = __builtin_nanf(""), infinity = __builtin_inff();
    if (row == 0) return k == 380 || k == 201 ? nan : static_cast<float>(k % 7);
    if (row == 1) return k > 100 ? nan : static_cast<float>(k % 7);
    if (row == 2) return k == 5 ? nan : infinity;
    if (row == 3) return -infinity;
    return k % 2 == 0 ? -0.f : 0.f;
  }
};

template <class T, class Rows>
TILEFOUNDRY_DEVICE void check_rows(Recorder& record) {
  TEST_ROLLED
  for (int row = 0; row < Rows::kRows; ++row) check_woven<T>(record, Rows{row});
}

template <class... T>
TILEFOUNDRY_DEVICE void check_numbers(Recorder& record) {
  (check_rows<T, Numbers>(record), ...);
}

template <class... T>
TILEFOUNDRY_DEVICE void check_floats(Recorder& record) {
  check_numbers<T...>(record);
  (check_rows<T, Floats>(record), ...);
}

TILEFOUNDRY_DEVICE void check_dtypes(Recorder& record) {
  check_floats<float, double, half_t, bfloat16_t, float_e4m3_t, float_e5m2_t>(record);
  check_numbers<bool, int8_t, uint8_t, int16_t, int32_t, uint32_t, int64_t>(record);
  // Elements that a narrower type would not tell apart.
  check_woven<int64_t>(record, [](int k) { return (int64_t(1) << 40) + k * 29 % 101; });
  check_woven<double>(record, [](int k) { return 1e9 + (k * 29 % 101) * 1e-3; });
}

/// Plain tensors, whose reduced axis dst does not have.
TILEFOUNDRY_DEVICE void check_plain(Recorder& record) {
  float values[6] = {1, 6, 6, 5, 4, 5};
  int64_t greatest[2];
  int32_t least[3];
  auto const x = make_tensor(&values[0], Matrix<2, 3>{});
  ops::reduce<op::argmax, Axes<1>>(x, make_tensor(&greatest[0], Layout<Shape<_2>, Stride<_1>>{}));
  ops::reduce<op::argmin, Axes<0>>(x, make_tensor(&least[0], Layout<Shape<_3>, Stride<_1>>{}));
  record.check(static_cast<float>(greatest[0] * 10 + greatest[1]), 10.f);
  record.check(static_cast<float>(least[0] * 100 + least[1] * 10 + least[2]), 11.f);
}

#endif

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
#if TEST_THREADS == 128
  check_dtypes(record);
  check_plain(record);
#endif
  check_all<Places>(record, args.repetitions);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
