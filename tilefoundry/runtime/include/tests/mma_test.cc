// ops::mma for every element type and layout of its operands, against products in f64.
#include <cmath>

#include "accumulator.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// Any other distribution: 64 rows over (16, 4), columns over 8 of each warp, local ones last.
template <int N>
using Scattered = ShardLayout<Layout<Shape<_4, _4, _4, _8, Int<N / 8>>, Stride<_0, Int<N / 8>, _0, _0, _1>>,
                              cute::tuple<S<0>, S<3>, S<2>>, Threads>;

enum class Order { kRows, kColumns, kAtoms, kColumnAtoms };

template <int R, int C, int Pad, Order order>
struct Storage;
template <int R, int C, int Pad>
struct Storage<R, C, Pad, Order::kRows> {
  using layout = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C + Pad>, _1>>;
  using swizzle = cute::Swizzle<0, 4, 3>;
};
template <int R, int C, int Pad>
struct Storage<R, C, Pad, Order::kColumns> {
  using layout = Layout<Shape<Int<R>, Int<C>>, Stride<_1, Int<R + Pad>>>;
  using swizzle = cute::Swizzle<0, 4, 3>;
};
/// Blocks of W columns whose rows of W elements are permuted.
template <int R, int C, int Pad>
struct Storage<R, C, Pad, Order::kAtoms> {
  static constexpr int W = C % 16 == 0 ? 16 : 8;
  using layout = Layout<Shape<Int<R>, Int<C / W>, Int<W>>, Stride<Int<W>, Int<W * R>, _1>>;
  using swizzle = cute::Swizzle<2, 4, 3>;
};
template <int R, int C, int Pad>
struct Storage<R, C, Pad, Order::kColumnAtoms> {
  static constexpr int W = R % 16 == 0 ? 16 : 8;
  using layout = Layout<Shape<Int<R / W>, Int<W>, Int<C>>, Stride<Int<W * C>, _1, Int<W>>>;
  using swizzle = cute::Swizzle<2, 4, 3>;
};

/// Writes the elements of a whole matrix, by one instance.
template <class T, class F>
void write(T& tile, F const& element) {
  using M = detail::Matrix<T>;
  if (program_id<kThread>() != 0) return;
  for (int i = 0; i < M::Rows::extent; ++i) {
    for (int j = 0; j < M::Columns::extent; ++j) tile.data()[M::offset(i, j)] = element(i, j);
  }
}

/// Visits the elements that the instance holds of a fragment: f(element, row, column).
template <class T, class F>
void for_each_element(T& fragment, F const& f) {
  auto row = register_tensor<int32_t>(typename T::global_layout_type{}, fragment.shard_layout);
  auto column = register_tensor<int32_t>(typename T::global_layout_type{}, fragment.shard_layout);
  ops::iota(row, _0{}, 0, 1);
  ops::iota(column, _1{}, 0, 1);
  for (int i = 0; i < cute::size(fragment.engine); ++i)
    f(fragment.data()[i], row.data()[i], column.data()[i]);
}

/// c = start + a @ b for a of 64 x K and b of K x N with noise as elements.
template <class T, class Acc, int N, int K, Order OrderA, Order OrderB, class SL,
          bool LeftInRegisters = false>
void check(double relative) {
  using SA = Storage<64, K, 8, OrderA>;
  using SB = Storage<K, N, 8, OrderB>;
  constexpr int a_bytes = ((64 + 8) * (K + 8) * static_cast<int>(sizeof(T)) + 1023) / 1024 * 1024;
  constexpr int b_bytes = (K + 8) * (N + 8) * static_cast<int>(sizeof(T));
  launch(1, a_bytes + b_bytes, [=] {
    auto a = shared_tensor<T, typename SA::swizzle>(cta_shared(), RowMajor<64, K>{}, typename SA::layout{});
    auto b = shared_tensor<T, typename SB::swizzle>(cta_shared() + a_bytes, RowMajor<K, N>{},
                                                    typename SB::layout{});
    auto element = [](int i) { return convert<T>(std::is_integral<T>::value ? 10.f * noise(i) : noise(i)); };
    write(a, [&](int i, int k) { return element(i * K + k); });
    write(b, [&](int k, int j) { return element(k * N + j + 100000); });
    ops::sync<SyncKind::cta>();
    auto c = register_tensor<Acc>(RowMajor<64, N>{}, SL{});
    auto row = register_tensor<int32_t>(RowMajor<64, N>{}, SL{});
    auto column = register_tensor<int32_t>(RowMajor<64, N>{}, SL{});
    ops::iota(row, _0{}, 0, 1);
    ops::iota(column, _1{}, 0, 1);
    ops::cast(row, c);
    if constexpr (LeftInRegisters) {
      auto left = register_tensor<T>(RowMajor<64, K>{}, Accumulator<K>{});
      for_each_element(left, [&](auto&& x, int i, int k) { x = element(i * K + k); });
      ops::mma(left, b, c);
    } else {
      ops::mma(a, b, c);
    }
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
  check<T, Acc, 32, 24, Order::kAtoms, Order::kColumnAtoms, Accumulator<32>>(relative);
  check<T, Acc, 24, 16, Order::kColumnAtoms, Order::kAtoms, Scattered<24>>(relative);
  check<T, Acc, 24, 48, Order::kRows, Order::kAtoms, Accumulator<24>, true>(relative);
  check<T, Acc, 8, 16, Order::kRows, Order::kColumns, Accumulator<8>, true>(relative);
}

TEST(Mma, F32) { check_orders<float, float>(1e-6); }
TEST(Mma, F64) { check_orders<double, double>(1e-15); }
TEST(Mma, F16) { check_orders<cute::half_t, float>(1e-6); }
TEST(Mma, BF16) { check_orders<cute::bfloat16_t, float>(1e-6); }
TEST(Mma, F16Accumulator) { check_orders<cute::half_t, cute::half_t>(1e-3); }
TEST(Mma, F16InputsExactInF64) { check_orders<cute::half_t, double>(1e-15); }
TEST(Mma, I8) { check_orders<int8_t, int32_t>(0); }
TEST(Mma, E4M3) { check_orders<cute::float_e4m3_t, float>(1e-6); }
TEST(Mma, E5M2) { check_orders<cute::float_e5m2_t, float>(1e-6); }
TEST(Mma, TF32) { check_orders<cute::tfloat32_t, float>(1e-6); }
TEST(Mma, I32) { check_orders<int32_t, int32_t>(0); }

/// Issued products are those of ops::mma; several of one accumulator may run.
TEST(Mma, IssueAndWait) {
  launch(1, 8192, [] {
    auto a = shared_tensor<float>(cta_shared(), RowMajor<64, 16>{}, RowMajor<64, 16>{});
    auto b = shared_tensor<float>(cta_shared() + 4096, RowMajor<16, 8>{}, RowMajor<16, 8>{});
    write(a, [](int i, int k) { return static_cast<float>((i + k) % 5); });
    write(b, [](int k, int j) { return static_cast<float>((2 * k + j) % 7); });
    ops::sync<SyncKind::cta>();
    auto once = register_tensor<float>(RowMajor<64, 8>{}, Accumulator<8>{});
    auto twice = register_tensor<float>(RowMajor<64, 8>{}, Accumulator<8>{});
    ops::fill(once, 0.f);
    ops::fill(twice, 0.f);
    ops::mma(a, b, once);
    ops::mma_issue(a, b, twice);
    auto running = ops::mma_issue(a, b, twice);
    ops::mma_wait<1>();
    ops::mma_wait(twice, running);
    for (int i = 0; i < cute::size(once.engine); ++i) ASSERT_EQ(twice.data()[i], 2 * once.data()[i]);
  });
}

/// The operand (64 x K) or (K x 64) of wgmma in rows of W elements along K, swizzled by Bits.
template <class T, int K, int W, int Bits>
using AlongK = decltype(shared_tensor<T, cute::Swizzle<Bits, 4, 3>>(
    static_cast<char*>(nullptr), RowMajor<64, K>{},
    Layout<Shape<Int<64>, Int<K / W>, Int<W>>, Stride<Int<W>, Int<64 * W>, _1>>{}));
template <class T, int K, int W, int Bits>
using BAlongK = decltype(transposed_view(std::declval<AlongK<T, K, W, Bits>>()));
template <class T, int N>
using Sums = decltype(register_tensor<T>(RowMajor<64, N>{}, Accumulator<N>{}));

/// Bytes between atoms along K and along the rows, and the code of the swizzle (PTX ISA, matrix descriptor).
constexpr uint64_t descriptor(uint64_t leading, uint64_t stride, uint64_t code) {
  return leading >> 4 << 16 | stride >> 4 << 32 | code << 62;
}

template <class T, class Acc>
constexpr bool runs_on_warpgroups() {
  constexpr int W = 16 / sizeof(T);  // 16 bytes
  return detail::is_wgmma<AlongK<T, 8 * W, 8 * W, 3>, BAlongK<T, 8 * W, 8 * W, 3>, Sums<Acc, 64>>() &&
         detail::is_wgmma<AlongK<T, 8 * W, 4 * W, 2>, BAlongK<T, 8 * W, 2 * W, 1>, Sums<Acc, 64>>() &&
         detail::is_wgmma<AlongK<T, 2 * W, W, 0>, BAlongK<T, 2 * W, W, 0>, Sums<Acc, 64>>() &&
         // a reduced extent of 16 bytes, and a swizzle that is not the rows'
         !detail::is_wgmma<AlongK<T, W, W, 0>, BAlongK<T, W, W, 0>, Sums<Acc, 64>>() &&
         !detail::is_wgmma<AlongK<T, 8 * W, 4 * W, 3>, BAlongK<T, 8 * W, 8 * W, 3>, Sums<Acc, 64>>() &&
         detail::WgmmaLeftOperand<AlongK<T, 8 * W, 8 * W, 3>>::descriptor() == descriptor(16, 1024, 1) &&
         detail::WgmmaLeftOperand<AlongK<T, 8 * W, 4 * W, 2>>::descriptor() == descriptor(16, 512, 2) &&
         detail::WgmmaRightOperand<BAlongK<T, 8 * W, 2 * W, 1>>::descriptor() == descriptor(16, 256, 3) &&
         detail::WgmmaRightOperand<BAlongK<T, 2 * W, W, 0>>::descriptor() == descriptor(64 * 16, 128, 0);
}
static_assert(runs_on_warpgroups<cute::half_t, float>() && runs_on_warpgroups<cute::bfloat16_t, float>() &&
                  runs_on_warpgroups<cute::tfloat32_t, float>() &&
                  runs_on_warpgroups<cute::float_e4m3_t, float>() &&
                  runs_on_warpgroups<cute::float_e5m2_t, float>() && runs_on_warpgroups<int8_t, int32_t>(),
              "16, 8 and 32-bit elements have the descriptors of the same bytes");
static_assert(
    !detail::is_wgmma<AlongK<float, 32, 32, 3>, BAlongK<float, 32, 32, 3>, Sums<float, 64>>() &&
        !detail::is_wgmma<AlongK<int8_t, 128, 128, 3>, BAlongK<int8_t, 128, 128, 3>, Sums<float, 64>>(),
    "f32 is never shortened, and integers accumulate in integers");

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
    // Rows of 64 bytes, of whose four chunks the second is exchanged by the third and so on as the rows go.
    using Atoms = Layout<Shape<_8, _4, _16>, Stride<_16, Int<128>, _1>>;
    auto atoms = shared_tensor<float, cute::Swizzle<2, 4, 3>>(cta_shared(), RowMajor<8, 64>{}, Atoms{});
    auto turned_atoms = transposed_view(atoms);
    using A = detail::Matrix<decltype(atoms)>;
    using B = detail::Matrix<decltype(turned_atoms)>;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 64; ++j) {
        int const chunk = (j / 4 % 4) ^ (i / 2 % 4);
        ASSERT_EQ(A::offset(i, j), j / 16 * 128 + i * 16 + chunk * 4 + j % 4) << i << ", " << j;
        ASSERT_EQ(B::offset(j, i), A::offset(i, j));
        if (program_id<kThread>() != 0) continue;
        atoms.engine.data()[A::linear(i, j)] = static_cast<float>(64 * i + j);
        ASSERT_EQ(atoms.data()[A::offset(i, j)], 64 * i + j);
      }
    }
  });
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
