// Golden: reductions over meshes.
#pragma once

#include "ops_reduce_meshes.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace opcheck {

/// A reduction step by step.
template <class Kind, int Start>
struct Folded {
  template <class T>
  using Result = T;
  template <class Value>
  TILEFOUNDRY_DEVICE static int golden(int count, Value const& value) {
    int result = Start;
    TEST_ROLLED
    for (int k = 0; k < count; ++k) result = Kind::step(result, static_cast<int>(value(k)));
    return result;
  }
};

struct Sum : Folded<Sum, 0> {
  using Op = op::sum;
  TILEFOUNDRY_DEVICE static int step(int a, int b) { return a + b; }
};
struct Max : Folded<Max, -1000> {
  using Op = op::max;
  TILEFOUNDRY_DEVICE static int step(int a, int b) { return a < b ? b : a; }
};
struct Min : Folded<Min, 1000> {
  using Op = op::min;
  TILEFOUNDRY_DEVICE static int step(int a, int b) { return b < a ? b : a; }
};
struct AbsMax : Folded<AbsMax, 0> {
  using Op = op::absmax;
  TILEFOUNDRY_DEVICE static int step(int a, int b) { return Max::step(a, b < 0 ? -b : b); }
};

struct Values {
  template <class T, int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
  TILEFOUNDRY_DEVICE static void ops(Recorder& record, int64_t repetitions) {
    check<Sum, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<Max, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<Min, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<AbsMax, T, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
  }

  template <int Rows, int Columns, int Axis, bool Workspace, class Src, class Dst>
  TILEFOUNDRY_DEVICE static void types(Recorder& record, int64_t repetitions) {
    ops<float, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<Sum, double, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<Sum, int32_t, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
    check<Max, half_t, Rows, Columns, Axis, Workspace, Src, Dst>(record, repetitions);
  }
};

#if TEST_THREADS == 128

/// Other kinds, NaN, integers without a sign, and sums of small floats, which accumulate in f32.
TILEFOUNDRY_DEVICE void check_kinds(Recorder& record) {
  using M = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, kThread>;
  using Src = ShardLayout<Layout<Shape<_4, _32>, Stride<_0, _0>>, cute::tuple<S<0>, S<1>>, M>;
  using Dst = ShardLayout<Layout<Shape<_4, _1>, Stride<_0, _0>>, cute::tuple<S<0>, B>, M>;
  int const t = program_id<kThread>();
  auto x = register_tensor<float>(Matrix<4, 32>{}, Src{});
  auto y = register_tensor<float>(Matrix<4, 1>{}, Dst{});
  ops::fill(x, static_cast<float>(t % 32));
  ops::reduce<op::mean, Axes<1>>(x, y);
  record.check(y.data()[0], 15.5f);
  ops::fill(x, t % 32 < 5 ? 2.f : 1.f);
  ops::reduce<op::prod, Axes<1>>(x, y);
  record.check(y.data()[0], 32.f);
  ops::fill(x, t == 40 ? __builtin_nanf("") : 1.f);
  ops::reduce<op::max, Axes<1>>(x, y);
  record.check(y.data()[0] != y.data()[0], t / 32 == 1);
  ops::reduce<op::min, Axes<1>>(x, y);
  record.check(y.data()[0] != y.data()[0], t / 32 == 1);
  auto a = register_tensor<bool>(Matrix<4, 32>{}, Src{});
  auto b = register_tensor<bool>(Matrix<4, 1>{}, Dst{});
  ops::fill(a, t == 70);
  ops::reduce<op::any, Axes<1>>(a, b);
  record.check(b.data()[0], t / 32 == 2);
  ops::fill(a, t != 70);
  ops::reduce<op::all, Axes<1>>(a, b);
  record.check(b.data()[0], t / 32 != 2);
  auto u = register_tensor<uint32_t>(Matrix<4, 32>{}, Src{});
  auto v = register_tensor<uint32_t>(Matrix<4, 1>{}, Dst{});
  ops::fill(u, t == 70 ? 0x80000000u : 1u);
  ops::reduce<op::max, Axes<1>>(u, v);
  record.check(v.data()[0] == 0x80000000u, t / 32 == 2);  // no sign
  using Row = ShardLayout<Layout<Shape<Int<128>, _64>, Stride<_0, _1>>, cute::tuple<S<0>>, Linear>;
  using One = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, Linear>;
  auto small_floats = register_tensor<bfloat16_t>(Matrix<128, 64>{}, Row{});
  auto sum = register_tensor<float>(Matrix<128, 1>{}, One{});
  ops::fill(small_floats, 1.f);
  small_floats.data()[0] = bfloat16_t(512.f);
  ops::reduce<op::sum, Axes<1>>(small_floats, sum);
  record.check(sum.data()[0], 575.f);  // in bf16 the sum would stay at 512
}

#endif

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args, Recorder& record) {
#if TEST_THREADS == 128
  check_kinds(record);
#endif
  check_all<Values>(record, args.repetitions);
}

}  // namespace opcheck
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
