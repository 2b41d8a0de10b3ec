// Elementwise ops on fragments, against scalar definitions written here.
#include <cmath>
#include <functional>
#include <limits>

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using Threads = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, kThread>;
using Eight = ShardLayout<Layout<Shape<Int<128>, _8>, Stride<_0, _1>>, cute::tuple<S<0>>, Threads>;
using Logical = RowMajor<128, 8>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool same(double a, double b, double relative) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(b) || std::isinf(a)) return a == b;
  return std::fabs(a - b) <= relative * std::fabs(b) + 1e-30;
}

/// What element (thread, i) of the operands is: small values and the awkward ones.
float operand(int thread, int i, int salt) {
  constexpr float special[] = {0.f, -0.f, kInf, -kInf, kNan, 1.f, -1.f, 0.5f, -2.5f, 2.5f, 1.5f, 1e-3f};
  int const n = thread * 8 + i + 77 * salt;
  return n % 5 == 0 ? special[n / 5 % 12] : 4.f * noise(n);
}

template <class T, class Op>
void check_unary(Op op, double (*expected)(double), double relative, char const* name) {
  launch(1, 0, [&] {
    int const t = program_id<kThread>();
    auto x = register_tensor<T>(Logical{}, Eight{});
    auto y = register_tensor<T>(Logical{}, Eight{});
    for (int i = 0; i < 8; ++i) x.data()[i] = convert<T>(operand(t, i, 0));
    ops::unary(op, x, y);
    for (int i = 0; i < 8; ++i) {
      double const in = convert<double>(x.data()[i]);
      double const want = convert<double>(convert<T>(expected(in)));
      EXPECT_PRED3(same, convert<double>(y.data()[i]), want, relative) << name << "(" << in << ")";
    }
  });
}

template <class T>
void check_all_unary(double relative) {
#define CHECK(name, expression) \
  check_unary<T>(op::name{}, [](double x) -> double { return expression; }, relative, #name)
  CHECK(neg, -x);
  CHECK(abs, std::fabs(x));
  CHECK(relu, x < 0 ? 0 : x);
  CHECK(exp, std::exp(x));
  CHECK(exp2, std::exp2(x));
  CHECK(exp2_ftz, std::exp2(x));
  CHECK(log, std::log(x));
  CHECK(log2, std::log2(x));
  CHECK(sqrt, std::sqrt(x));
  CHECK(rsqrt, 1 / std::sqrt(x));
  CHECK(square, x * x);
  CHECK(identity, x);
  CHECK(sigmoid, 1 / (1 + std::exp(-x)));
  CHECK(tanh, std::tanh(x));
  CHECK(sin, std::sin(x));
  CHECK(cos, std::cos(x));
  CHECK(erf, std::erf(x));
  CHECK(ceil, std::ceil(x));
  CHECK(floor, std::floor(x));
  CHECK(round, std::nearbyint(x));
#undef CHECK
}

TEST(Unary, F32) { check_all_unary<float>(1e-5); }
TEST(Unary, F64) { check_all_unary<double>(1e-12); }
TEST(Unary, F16) { check_all_unary<cute::half_t>(1e-3); }
TEST(Unary, BF16) { check_all_unary<cute::bfloat16_t>(8e-3); }

TEST(Unary, SignOfZero) {
  launch(1, 0, [&] {
    auto x = register_tensor<float>(Logical{}, Eight{});
    ops::fill(x, 0.f);
    ops::unary(op::neg{}, x, x);
    EXPECT_TRUE(std::signbit(x.data()[3]));
  });
}

TEST(Unary, PowersOfTwoBelowTheNormalNumbersAreZero) {
  launch(1, 0, [&] {
    float const operands[] = {-150.f, -126.5f, -126.f, 127.f};
    auto x = register_tensor<float>(Logical{}, Eight{});
    for (int i = 0; i < 8; ++i) x.data()[i] = operands[i % 4];
    ops::unary(op::exp2_ftz{}, x, x);
    EXPECT_EQ(x.data()[0], 0.f);
    EXPECT_EQ(x.data()[1], 0.f);
    EXPECT_EQ(x.data()[2], 0x1p-126f);
    EXPECT_EQ(x.data()[3], 0x1p127f);
  });
}

TEST(Unary, IntegersAndBool) {
  launch(1, 0, [&] {
    auto x = register_tensor<int32_t>(Logical{}, Eight{});
    ops::fill(x, std::numeric_limits<int32_t>::min());
    ops::unary(op::neg{}, x, x);
    EXPECT_EQ(x.data()[0], std::numeric_limits<int32_t>::min()) << "wraps";
    ops::fill(x, -5);
    ops::unary(op::abs{}, x, x);
    EXPECT_EQ(x.data()[7], 5);
    int64_t const greatest = std::numeric_limits<int64_t>::max();  // no number of f64
    auto wide = register_tensor<int64_t>(Logical{}, Eight{});
    ops::fill(wide, greatest - 1);
    ops::unary(op::round{}, wide, wide);
    ops::unary(op::ceil{}, wide, wide);
    ops::unary(op::floor{}, wide, wide);
    EXPECT_EQ(wide.data()[2], greatest - 1);
    auto b = register_tensor<bool>(Logical{}, Eight{});
    ops::fill(b, true);
    ops::unary(op::logical_not{}, b, b);
    EXPECT_FALSE(b.data()[5]);
  });
}

template <class T, class Out, class Op, class Expected>
void check_binary(Op op, Expected expected, char const* name) {
  launch(1, 0, [&] {
    int const t = program_id<kThread>();
    auto x = register_tensor<T>(Logical{}, Eight{});
    auto y = register_tensor<T>(Logical{}, Eight{});
    auto z = register_tensor<Out>(Logical{}, Eight{});
    for (int i = 0; i < 8; ++i) {
      x.data()[i] = convert<T>(operand(t, i, 1));
      y.data()[i] = convert<T>(operand(t, i, 2));
    }
    ops::binary(op, x, y, z);
    for (int i = 0; i < 8; ++i) {
      detail::compute_t<T> const a = detail::widen(x.data()[i]), b = detail::widen(y.data()[i]);
      EXPECT_PRED3(same, convert<double>(z.data()[i]), convert<double>(convert<Out>(expected(a, b))), 0.)
          << name << "(" << a << ", " << b << ")";
    }
  });
}

template <class T>
void check_all_binary() {
  check_binary<T, T>(op::add{}, [](auto a, auto b) { return a + b; }, "add");
  check_binary<T, T>(op::sub{}, [](auto a, auto b) { return a - b; }, "sub");
  check_binary<T, T>(op::mul{}, [](auto a, auto b) { return a * b; }, "mul");
  check_binary<T, T>(op::div{}, [](auto a, auto b) { return a / b; }, "div");
  check_binary<T, T>(
      op::max{}, [](auto a, auto b) { return std::isnan(a)   ? a
                                             : std::isnan(b) ? b
                                             : a > b         ? a
                                                             : b; }, "max");
  check_binary<T, T>(
      op::min{}, [](auto a, auto b) { return std::isnan(a)   ? a
                                             : std::isnan(b) ? b
                                             : a < b         ? a
                                                             : b; }, "min");
  check_binary<T, bool>(op::eq{}, std::equal_to<>{}, "eq");
  check_binary<T, bool>(op::ne{}, std::not_equal_to<>{}, "ne");
  check_binary<T, bool>(op::lt{}, std::less<>{}, "lt");
  check_binary<T, bool>(op::le{}, std::less_equal<>{}, "le");
  check_binary<T, bool>(op::gt{}, std::greater<>{}, "gt");
  check_binary<T, bool>(op::ge{}, std::greater_equal<>{}, "ge");
}

TEST(Binary, F32) { check_all_binary<float>(); }
TEST(Binary, F64) { check_all_binary<double>(); }
TEST(Binary, F16) { check_all_binary<cute::half_t>(); }
TEST(Binary, BF16) { check_all_binary<cute::bfloat16_t>(); }

TEST(Binary, FloorDivAndModFollowTheDivisorsSign) {
  int const cases[][4] = {{7, 2, 3, 1},    {-7, 2, -4, 1}, {7, -2, -4, -1},
                          {-7, -2, 3, -1}, {6, -3, -2, 0}, {0, 5, 0, 0}};
  for (auto const& c : cases) {
    EXPECT_EQ(op::floor_div{}(c[0], c[1]), c[2]);
    EXPECT_EQ(op::mod{}(c[0], c[1]), c[3]);
    EXPECT_EQ(op::floor_div{}(float(c[0]), float(c[1])), float(c[2]));
    EXPECT_EQ(op::mod{}(float(c[0]), float(c[1])), float(c[3]));
  }
  EXPECT_EQ(op::floor_div{}(1.f, 0.1f), 9.f) << "0.1f is a little more than 0.1; the quotient rounds to 10";
  EXPECT_EQ(op::floor_div{}(-1., 0.1), -10.);
  EXPECT_EQ(op::floor_div{}(3.f, 0.f), kInf);
  EXPECT_EQ(op::floor_div{}(-3.f, kInf), -1.f);
  int64_t const least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(op::floor_div{}(least, int64_t(-1)), least) << "wraps";
  EXPECT_EQ(op::mod{}(least, int64_t(-1)), 0);
  EXPECT_EQ(op::floor_div{}(uint8_t(200), uint8_t(7)), 28);
}

TEST(Binary, IntegerDivisionByZeroNamesTheInstance) {
  try {
    launch(2, 0, [&] {
      auto x = register_tensor<int32_t>(Logical{}, Eight{});
      ops::fill(x, program_id<TopologyScope::cta>() == 1 && program_id<kThread>() == 9 ? 0 : 1);
      ops::binary(op::floor_div{}, 5, x, x);
    });
    FAIL() << "expected an error";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "instance (cta 1, thread 9): integer division by zero");
  }
}

TEST(Binary, ScalarsTakeTheComputeTypeOfTheTensor) {
  launch(1, 0, [&] {
    auto x = register_tensor<cute::bfloat16_t>(Logical{}, Eight{});
    ops::fill(x, 3.f);
    ops::binary(op::mul{}, x, 0.1f, x);  // 0.1 is not rounded to bf16 first
    EXPECT_EQ(float(x.data()[0]), float(cute::bfloat16_t(3.f * 0.1f)));
    auto n = register_tensor<int32_t>(Logical{}, Eight{});
    ops::fill(n, 4);
    ops::binary(op::sub{}, int64_t(10), n, n);
    EXPECT_EQ(n.data()[0], 6);
  });
}

TEST(Binary, LogicalOps) {
  launch(1, 0, [&] {
    auto a = register_tensor<bool>(Logical{}, Eight{});
    auto b = register_tensor<bool>(Logical{}, Eight{});
    auto c = register_tensor<bool>(Logical{}, Eight{});
    for (int i = 0; i < 8; ++i) {
      a.data()[i] = i & 1;
      b.data()[i] = i & 2;
    }
    ops::binary(op::logical_and{}, a, b, c);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(c.data()[i], (i & 3) == 3);
    ops::binary(op::logical_or{}, a, b, c);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(c.data()[i], (i & 3) != 0);
  });
}

TEST(Elementwise, BroadcastByViews) {
  launch(1, 0, [&] {
    using Column = ShardLayout<Layout<Shape<Int<128>, _1>, Stride<_0, _0>>, cute::tuple<S<0>>, Threads>;
    using ColumnAsEight =
        ShardLayout<Layout<Shape<Int<128>, _8>, Stride<_0, _0>>, cute::tuple<S<0>>, Threads>;
    auto m = register_tensor<float>(RowMajor<128, 1>{}, Column{});
    ops::fill(m, 2.f);
    auto x = register_tensor<float>(Logical{}, Eight{});
    ops::iota(x, Int<1>{}, 0.f, 1.f);
    ops::binary(op::mul{}, x, view(m, Logical{}, ColumnAsEight{}), x);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(x.data()[i], 2.f * i);
  });
}

TEST(Elementwise, WhereFillClampIota) {
  launch(1, 0, [&] {
    int const t = program_id<kThread>();
    auto x = register_tensor<float>(Logical{}, Eight{});
    auto mask = register_tensor<bool>(Logical{}, Eight{});
    ops::iota(x, Int<0>{}, 100, 2);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(x.data()[i], 100.f + 2 * t);
    ops::iota(x, Int<1>{}, -3.f, 1.f);
    ops::binary(op::lt{}, x, 0.f, mask);
    ops::where(mask, kNan, x, x);
    ops::clamp(x, 1, 3, x);
    for (int i = 0; i < 8; ++i) {
      if (i < 3) {
        EXPECT_TRUE(std::isnan(x.data()[i]));
      } else {
        EXPECT_EQ(x.data()[i], std::min(std::max(i - 3, 1), 3));
      }
    }
    ops::fill(x, 2.f);
    ops::clamp(x, t % 2 == 0 ? kNan : 1.f, t % 2 == 0 ? 3.f : kNan, x);
    EXPECT_TRUE(std::isnan(x.data()[7])) << "by a bound that is none";
    float plain[6];
    ops::iota(cute::make_tensor(&plain[0], RowMajor<2, 3>{}), Int<1>{}, 4, 3);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(plain[i], 4 + 3 * (i % 3));
  });
}

/// Memory moves in packs as wide as types prove, on a GPU; here, where the compiler makes its own vectors, by
/// hand: x * 0.5 + 1 from one element type and place to another, of `Columns` columns in rows of `Pitch`.
template <class From, class To, int Columns, int Pitch, int Own, int Pack>
void check_packs() {
  using Runs = Mesh<Layout<Shape<cute::_16, _8>, Stride<_8, _1>>, kThread>;
  using SL =
      ShardLayout<Layout<Shape<cute::_16, _8, Int<Columns / 8>>, Stride<Int<Pitch>, Int<Columns / 8>, _1>>,
                  cute::tuple<S<0>, S<1>>, Runs>;
  using Tile = RowMajor<16, Columns>;
  alignas(16) static From source[16 * Pitch];
  for (int i = 0; i < 16 * Pitch; ++i) source[i] = convert<From>(i % 200 - 100);
  launch(1, 16 * Pitch * sizeof(To), [] {
    GlobalArg<2> const arg{source, {16, Columns}, {Pitch, 1}};
    auto const global = global_tensor<From, true>(arg, cute::make_shape(Int<16>{}, Int<Columns>{}));
    auto const x = view(global, Tile{}, SL{});
    auto tile = shared_tensor<To>(cta_shared(), Tile{},
                                  Layout<Shape<cute::_16, Int<Columns>>, Stride<Int<Pitch>, _1>>{});
    auto y = view(tile, Tile{}, SL{});
    static_assert(detail::operand_pack<decltype(x)>() == Own, "of the source alone");
    static_assert(detail::widest_pack<decltype(y), decltype(x), float>() == Pack, "of both");
    constexpr int count = Columns / 8;
    unary_impl::Unary<op::identity>{}.template first<count, Pack>(y, x);
    unary_impl::Unary<op::mul>{}.template first<count, Pack>(y, y, 0.5f);
    unary_impl::Unary<op::add>{}.template first<count - 1, Pack>(y, y, 1.f);
    int const thread = program_id<kThread>(), first = thread / 8 * Pitch + thread % 8 * count;
    for (int i = 0; i < count; ++i) {
      To const half = convert<To>(convert<double>(convert<To>(source[first + i])) * 0.5);
      To const want = i == count - 1 ? half : convert<To>(convert<double>(half) + 1.);
      ASSERT_EQ(convert<double>(tile.data()[first + i]), convert<double>(want)) << first << " " << i;
    }
    using Numbers = detail::Progression<detail::FragmentOf<decltype(y)>, 1, detail::compute_t<To>>;
    unary_impl::Unary<op::identity>{}.template first<count, Pack>(y, Numbers{3, 2, thread % 8 * count});
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(convert<double>(tile.data()[first + i]), 3 + 2 * (thread % 8 * count + i))
          << first << " " << i;
    }
  });
}

TEST(Elementwise, PacksOfMemory) {
  check_packs<float, float, 64, 68, 4, 4>();
  check_packs<cute::bfloat16_t, float, 64, 72, 8, 8>();
  check_packs<cute::half_t, cute::half_t, 128, 136, 8, 8>();
  check_packs<double, cute::half_t, 32, 34, 2, 2>();
  check_packs<float, cute::half_t, 64, 66, 2, 2>();
  check_packs<float, float, 40, 41, 1, 1>();
  check_packs<cute::half_t, float, 48, 50, 2, 2>();
}

TEST(Elementwise, PartsThatLocalGives) {
  using Rows = ShardLayout<Logical, cute::tuple<S<0>>, Threads>;
  std::vector<float> in(1024), out(3072, -1.f);
  for (int i = 0; i < 1024; ++i) in[i] = noise(i);
  launch(1, 0, [&] {
    auto part = [](float* p) {
      return local(
          make_shard_tensor(cute::make_tensor(cute::make_gmem_ptr(p), Logical{}), Logical{}, Rows{}));
    };
    auto const x = part(in.data());
    auto y = part(&out[0]);
    ops::unary(op::neg{}, x, y);
    ops::binary(op::add{}, x, y, part(&out[1024]));
    ops::fill(part(&out[2048]), 7.f);
  });
  for (int i = 0; i < 1024; ++i) {
    EXPECT_EQ(out[i], -in[i]);
    EXPECT_EQ(out[1024 + i], 0.f);
    EXPECT_EQ(out[2048 + i], 7.f);
  }
}

TEST(Elementwise, GlobalMemoryWithRunTimeStrides) {
  std::vector<float> buffer(128 * 10, -1.f);
  auto layout =
      cute::make_layout(cute::make_shape(Int<128>{}, _4{}), cute::make_stride(int64_t(10), int64_t(2)));
  ShardLayout<decltype(layout), cute::tuple<S<0>>, Threads> const sl{layout, {}, {}};
  launch(1, 0, [&] {
    auto engine = cute::make_tensor(cute::make_gmem_ptr(buffer.data()), layout);
    ops::fill(make_shard_tensor(engine, RowMajor<128, 4>{}, sl), 7.f);
  });
  for (int i = 0; i < 1280; ++i) EXPECT_EQ(buffer[i], i % 10 < 8 && i % 2 == 0 ? 7.f : -1.f) << i;
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
