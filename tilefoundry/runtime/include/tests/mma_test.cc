// ops::mma for every element type and layout of its operands, against products in f64.
#include <cmath>

#include "testing.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_0;
using cute::_1;
using cute::_16;
using cute::_2;
using cute::_32;
using cute::_4;
using cute::_8;
using cute::Int;
using cute::Layout;
using cute::Shape;
using cute::Stride;
using shard::B;
using shard::S;
constexpr auto kThread = TopologyScope::thread;

using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
template <int N>
using Accumulator =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<S<0>, S<2>, S<4>>, Threads>;
/// Any other distribution: 64 rows over (16, 4), columns over 8 of each warp, local ones last.
template <int N>
using Scattered = ShardLayout<Layout<Shape<_4, _4, _4, _8, Int<N / 8>>, Stride<_0, Int<N / 8>, _0, _0, _1>>,
                              cute::tuple<S<0>, S<3>, S<2>>, Threads>;

enum class Order { kRows, kColumns };

template <int R, int C, int Pad, Order order>
using Storage =
    std::conditional_t<order == Order::kRows, Layout<Shape<Int<R>, Int<C>>, Stride<Int<C + Pad>, _1>>,
                       Layout<Shape<Int<R>, Int<C>>, Stride<_1, Int<R + Pad>>>>;

/// c = start + a @ b for a of 64 x K and b of K x N with noise as elements.
template <class T, class Acc, int N, int K, Order OrderA, Order OrderB, class SL>
void check(double relative) {
  using SA = Storage<64, K, 8, OrderA>;
  using SB = Storage<K, N, 8, OrderB>;
  constexpr int a_bytes = (64 + 8) * (K + 8) * static_cast<int>(sizeof(T));
  constexpr int b_bytes = (K + 8) * (N + 8) * static_cast<int>(sizeof(T));
  launch(1, a_bytes + b_bytes, [=] {
    auto a = shared_tensor<T>(cta_shared(), RowMajor<64, K>{}, SA{});
    auto b = shared_tensor<T>(cta_shared() + a_bytes, RowMajor<K, N>{}, SB{});
    auto element = [](int i) { return convert<T>(std::is_integral<T>::value ? 10.f * noise(i) : noise(i)); };
    if (program_id<kThread>() == 0) {
      for (int i = 0; i < 64 * K; ++i) a.data()[SA{}(i / K, i % K)] = element(i);
      for (int i = 0; i < K * N; ++i) b.data()[SB{}(i / N, i % N)] = element(i + 100000);
    }
    ops::sync<SyncKind::cta>();
    auto c = register_tensor<Acc>(RowMajor<64, N>{}, SL{});
    auto row = register_tensor<int32_t>(RowMajor<64, N>{}, SL{});
    auto column = register_tensor<int32_t>(RowMajor<64, N>{}, SL{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    ops::cast(row, c);
    ops::mma(a, b, c);
    for (int i = 0; i < cute::size(c.engine); ++i) {
      int const r = row.data()[i], n = column.data()[i];
      double want = r, scale = r;
      for (int k = 0; k < K; ++k) {
        double const product =
            convert<double>(element(r * K + k)) * convert<double>(element(k * N + n + 100000));
        want += product;
        scale += std::fabs(product);
      }
      ASSERT_LE(std::fabs(convert<double>(c.data()[i]) - want), relative * scale) << r << ", " << n;
    }
  });
}

template <class T, class Acc>
void check_orders(double relative) {
  check<T, Acc, 32, 32, Order::kRows, Order::kRows, Accumulator<32>>(relative);
  check<T, Acc, 32, 16, Order::kRows, Order::kColumns, Accumulator<32>>(relative);
  check<T, Acc, 16, 48, Order::kColumns, Order::kRows, Accumulator<16>>(relative);
  check<T, Acc, 8, 20, Order::kColumns, Order::kColumns, Accumulator<8>>(relative);
  check<T, Acc, 32, 24, Order::kRows, Order::kColumns, Scattered<32>>(relative);
}

TEST(Mma, F32) { check_orders<float, float>(1e-6); }
TEST(Mma, F64) { check_orders<double, double>(1e-15); }
TEST(Mma, F16) { check_orders<cute::half_t, float>(1e-6); }
TEST(Mma, BF16) { check_orders<cute::bfloat16_t, float>(1e-6); }
TEST(Mma, F16Accumulator) { check_orders<cute::half_t, cute::half_t>(1e-3); }
TEST(Mma, F16InputsExactInF64) { check_orders<cute::half_t, double>(1e-15); }
TEST(Mma, I8) { check_orders<int8_t, int32_t>(0); }
TEST(Mma, I32) { check_orders<int32_t, int32_t>(0); }

TEST(Mma, TransposedView) {
  launch(1, 4096, [] {
    auto tile = shared_tensor<float>(cta_shared(), RowMajor<8, 64>{},
                                     Layout<Shape<_8, Int<64>>, Stride<Int<68>, _1>>{});
    auto turned = transposed_view(tile);
    using Turned = decltype(turned);
    static_assert(std::is_same<Turned::global_layout_type, RowMajor<64, 8>>::value);
    static_assert(std::is_same<decltype(turned.shard_layout.layout),
                               Layout<Shape<Int<64>, _8>, Stride<_1, Int<68>>>>::value);
    EXPECT_EQ(turned.data(), tile.data());
  });
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
