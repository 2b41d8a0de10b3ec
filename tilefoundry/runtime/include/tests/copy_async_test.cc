// How many elements ops::copy_async and ops::copy_n move at once: as many as the addresses allow that
// instances really have, where types prove it, and single ones where they do not.
#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_64;
using Square = Mesh<Layout<Shape<_16, _8>, Stride<_8, _1>>, TopologyScope::thread>;
using Line = Mesh<Layout<Shape<Int<128>>, Stride<_1>>, TopologyScope::thread>;

template <class T>
uintptr_t address(T* p) {
  return reinterpret_cast<uintptr_t>(p);
}
#if defined(TILEFOUNDRY_CHECKED)
template <class T>
uintptr_t address(CheckedPointer<T> const& p) {
  return address(p.unchecked());
}
#endif

/// Elements of T that lie in a row at a multiple of as many, in every pack of every instance.
template <class Tensor>
int measured(Tensor const& tensor) {
  using T = std::remove_const_t<typename Tensor::value_type>;
  constexpr int count = detail::FragmentOf<Tensor>::count;
  int most = 16 / static_cast<int>(sizeof(T));
  launch(1, 0, [&] {
    auto const part = detail::elements(tensor);
    for (; most > 1; most /= 2) {
      bool fits = count % most == 0;
      for (int i = 0; fits && i < count; ++i) {
        uintptr_t const at = address(&part(i)), first = address(&part(i / most * most));
        fits = first % (most * sizeof(T)) == 0 && at == first + i % most * sizeof(T);
      }
      if (fits) break;
    }
  });
  return most;
}

template <class T>
struct Memory {
  alignas(256) T elements[1 << 15];
  template <bool Vector, int R, int P>
  auto matrix() {
    GlobalArg<2> const arg{elements, {R, P}, {P, 1}};
    return global_tensor<T, Vector>(arg, make_shape(Int<R>{}, Int<P>{}));
  }
  template <int R, int C, int P>
  auto tile() {
    return shared_tensor<T>(reinterpret_cast<char*>(elements), RowMajor<R, C>{},
                            Layout<Shape<Int<R>, Int<C>>, Stride<Int<P>, _1>>{});
  }
};

/// Blocks of R / 16 rows and C / 8 columns of an R x C matrix whose rows lie P apart.
template <int R, int C, int P>
using Blocks = ShardLayout<
    Layout<Shape<_16, Int<R / 16>, _8, Int<C / 8>>, Stride<Int<R / 16 * P>, Int<P>, Int<C / 8>, _1>>,
    cute::tuple<S<0>, S<2>>, Square>;

template <class T, int R, int C, int P>
void check_blocks(int expected) {
  static Memory<T> memory;
  using SL = Blocks<R, C, P>;
  auto const tile = view(memory.template tile<R, C, P>(), RowMajor<R, C>{}, SL{});
  EXPECT_EQ(detail::pack_size<decltype(tile)>(), expected);
  EXPECT_EQ(measured(tile), expected);
  if constexpr (P * sizeof(T) % 16 == 0) {
    auto const proven = view(memory.template matrix<true, R, P>(), RowMajor<R, C>{}, SL{});
    EXPECT_EQ(detail::pack_size<decltype(proven)>(), expected);
    EXPECT_EQ(measured(proven), expected);
  }
  // The same addresses, of which nothing is known.
  auto const unproven = view(memory.template matrix<false, R, P>(), RowMajor<R, C>{}, SL{});
  EXPECT_EQ(detail::pack_size<decltype(unproven)>(), 1);
}

TEST(CopyAsync, PacksOfBlocks) {
  check_blocks<float, 16, 64, 64>(4);
  check_blocks<float, 16, 64, 66>(2);
  check_blocks<float, 16, 64, 65>(1);
  check_blocks<float, 16, 48, 48>(2);
  check_blocks<float, 16, 40, 40>(1);
  check_blocks<double, 32, 32, 32>(2);
  check_blocks<double, 32, 24, 24>(1);
  check_blocks<cute::half_t, 16, 64, 72>(8);
  check_blocks<cute::half_t, 16, 64, 68>(4);
  check_blocks<cute::half_t, 16, 16, 16>(2);
  check_blocks<cute::bfloat16_t, 48, 96, 96>(4);
  check_blocks<int8_t, 16, 128, 144>(16);
  check_blocks<int8_t, 16, 128, 136>(8);
  check_blocks<int8_t, 16, 96, 100>(4);
  check_blocks<int8_t, 16, 48, 54>(2);
  check_blocks<bool, 16, 40, 40>(1);
  check_blocks<cute::float_e4m3_t, 16, 64, 64>(8);
}

/// A view of a tile under any layout.
template <class T, class SL, class Logical>
void check_layout(int expected) {
  static Memory<T> memory;
  auto const part = view(memory.template tile<1, 4096, 4096>(), Logical{}, SL{});
  EXPECT_EQ(detail::pack_size<decltype(part)>(), expected);
  EXPECT_GE(measured(part), expected);
}

TEST(CopyAsync, PacksOfOtherLayouts) {
  // Rows that continue each other are one run; runs of which the mesh takes every second one are not.
  check_layout<float,
               ShardLayout<Layout<Shape<Int<128>, _4, _2>, Stride<_8, _2, _1>>, cute::tuple<S<0>>, Line>,
               RowMajor<128, 8>>(4);
  check_layout<
      float, ShardLayout<Layout<Shape<_2, Int<128>, _2>, Stride<Int<256>, _2, _1>>, cute::tuple<S<1>>, Line>,
      RowMajor<2, 256>>(2);
  check_layout<float,
               ShardLayout<Layout<Shape<_2, Int<128>, _2>, Stride<_2, _4, _1>>, cute::tuple<S<1>>, Line>,
               RowMajor<2, 256>>(4);
  // Windows that overlap start anywhere: of rows, and of instances.
  check_layout<float, ShardLayout<Layout<Shape<_4, _4>, Stride<_1, _1>>, cute::tuple<B>, Line>,
               RowMajor<4, 4>>(1);
  check_layout<float, ShardLayout<Layout<Shape<_4, _4>, Stride<_2, _1>>, cute::tuple<B>, Line>,
               RowMajor<4, 4>>(2);
  check_layout<float, ShardLayout<Layout<Shape<Int<128>, _4>, Stride<_1, _1>>, cute::tuple<S<0>>, Line>,
               RowMajor<128, 4>>(1);
  // The same row again and again; columns; every eighth column.
  check_layout<float, ShardLayout<Layout<Shape<Int<128>, _4>, Stride<_0, _1>>, cute::tuple<S<0>>, Line>,
               RowMajor<128, 4>>(4);
  check_layout<float, ShardLayout<Layout<Shape<_8, Int<128>>, Stride<_1, _8>>, cute::tuple<S<1>>, Line>,
               RowMajor<8, 128>>(4);
  check_layout<float, ShardLayout<Layout<Shape<_4, Int<128>>, Stride<Int<128>, _1>>, cute::tuple<S<1>>, Line>,
               RowMajor<4, 128>>(1);
}

TEST(CopyAsync, AMovedPointerIsProvenNoMore) {
  static Memory<cute::half_t> memory;
  using SL = Blocks<16, 64, 64>;
  auto const at = [](auto const& tensor, auto by) {
    return view(cute::make_tensor(tensor.data() + by, tensor.layout()), RowMajor<16, 64>{}, SL{});
  };
  auto const global = memory.matrix<true, 16, 64>();
  auto const tile = memory.tile<16, 64, 64>();
  EXPECT_EQ(detail::pack_size<decltype(at(global, _0{}))>(), 8);
  EXPECT_EQ(detail::pack_size<decltype(at(global, 8))>(), 1);
  EXPECT_EQ(detail::pack_size<decltype(at(global, _1{}))>(), 1);
  EXPECT_EQ(detail::pack_size<decltype(at(tile.engine, _0{}))>(), 8);
  EXPECT_EQ(detail::pack_size<decltype(at(tile.engine, 8))>(), 1);
  // One that is known to have moved by so many elements.
  auto const from = [&](auto multiple) {
    auto const part = view(tensor_from<decltype(multiple)::value>(global, 64 + decltype(multiple)::value),
                           RowMajor<16, 64>{}, SL{});
    int const known = detail::pack_size<decltype(part)>();
    EXPECT_EQ(measured(part), known);
    return known;
  };
  EXPECT_EQ(from(_16{}), 8);
  EXPECT_EQ(from(_8{}), 8);
  EXPECT_EQ(from(_4{}), 4);
  EXPECT_EQ(from(_2{}), 2);
  EXPECT_EQ(from(_1{}), 1);
  EXPECT_EQ(from(Int<12>{}), 4);
  EXPECT_EQ((detail::pack_size<decltype(view(tensor_from<16>(memory.matrix<false, 16, 64>(), 16),
                                             RowMajor<16, 64>{}, SL{}))>()),
            1);
  // A tile in a part of another one.
  auto const window = shared_tensor<cute::half_t, cute::Swizzle<0, 4, 3>, 4>(
      reinterpret_cast<char*>(memory.elements) + 4, RowMajor<16, 64>{}, RowMajor<16, 64>{});
  EXPECT_EQ(detail::pack_size<decltype(view(window, RowMajor<16, 64>{}, SL{}))>(), 2);
}

TEST(CopyAsync, ASwizzleKeepsItsChunksTogether) {
  static Memory<cute::half_t> memory;
  auto const pack = [](auto order) {
    auto const tile = shared_tensor<cute::half_t, decltype(order)>(reinterpret_cast<char*>(memory.elements),
                                                                   RowMajor<16, 64>{}, RowMajor<16, 64>{});
    auto const part = view(tile, RowMajor<16, 64>{}, Blocks<16, 64, 64>{});
    EXPECT_EQ(measured(part), detail::pack_size<decltype(part)>());
    return detail::pack_size<decltype(part)>();
  };
  EXPECT_EQ(pack(cute::Swizzle<3, 4, 3>{}), 8);
  EXPECT_EQ(pack(cute::Swizzle<2, 3, 4>{}), 4);
  EXPECT_EQ(pack(cute::Swizzle<3, 2, 5>{}), 2);
  EXPECT_EQ(pack(cute::Swizzle<2, 1, 6>{}), 1);
}

TEST(CopyAsync, RunTimeStridesOfAlignedRows) {
  // Spread as the tile is, a tensor's own strides keep what the host has checked; other run-time strides do
  // not.
  static Memory<float> memory;
  auto const tile = view(memory.tile<16, 64, 64>(), RowMajor<16, 64>{}, Blocks<16, 64, 64>{});
  using Tile = std::remove_const_t<decltype(tile)>;
  auto const pack = [&](auto const& whole) {
    using Whole = detail::remove_cvref_t<decltype(whole)>;
    auto const part = detail::part_of(whole, tile);
    return detail::common_pack<Whole, detail::remove_cvref_t<decltype(part)>, Tile, Tile>();
  };
  GlobalArg<2> const arg{memory.elements, {16, 64}, {68, 1}};
  EXPECT_EQ(pack(global_tensor<float, true>(arg, make_shape(arg.shape[0], arg.shape[1]))), 4);
  EXPECT_EQ(pack(global_tensor<float, false>(arg, make_shape(arg.shape[0], arg.shape[1]))), 1);
  using Open = ShardLayout<Layout<Shape<_16, _1, _8, _8>, Stride<int64_t, _0, _8, _1>>,
                           cute::tuple<S<0>, S<2>>, Square>;
  using Part =
      decltype(view(global_tensor<float, true>(arg, make_shape(_16{}, _64{})), RowMajor<16, 64>{}, Open{}));
  EXPECT_EQ(detail::pack_size<Part>(), 1);
}

TEST(CopyAsync, PartsThatAreNoShardTensors) {
  // What local() gives, on either side, and of one instance's size on one side alone.
  static Memory<float> memory;
  for (int i = 0; i < 1024; ++i) memory.elements[i] = static_cast<float>(i);
  std::vector<float> out(1024, -1.f);
  launch(1, 3 * 4096, [&] {
    auto const source = view(memory.matrix<true, 16, 64>(), RowMajor<16, 64>{}, Blocks<16, 64, 64>{});
    auto const tile = [&](int n) {
      return view(shared_tensor<float>(cta_shared() + n * 4096, RowMajor<16, 64>{}, RowMajor<16, 64>{}),
                  RowMajor<16, 64>{}, Blocks<16, 64, 64>{});
    };
    auto part = local(tile(0));
    ops::copy_async(local(source), part);
    ops::copy_async(local(source), tile(1));
    ops::copy_async(source, local(tile(2)));
    ops::cp_async_commit();
    ops::cp_async_wait<0>();
    auto const same = [&](int n) {
      auto const in = local(source);
      auto const copied = local(tile(n));
      for (int i = 0; i < cute::size(in); ++i) EXPECT_EQ(in(i), copied(i));
    };
    same(0);
    same(1);
    same(2);
    auto sink = view(cute::make_tensor(cute::make_gmem_ptr(out.data()), RowMajor<16, 64>{}),
                     RowMajor<16, 64>{}, Blocks<16, 64, 64>{});
    ops::copy_async(tile(1), sink);  // another direction: at once
  });
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(out[i], static_cast<float>(i));
}

TEST(CopyN, ConvertsAndKeepsTheRest) {
  using SL = ShardLayout<Layout<Shape<Int<128>, _8>, Stride<_0, _1>>, cute::tuple<S<0>>, Line>;
  launch(1, 0, [] {
    auto x = register_tensor<float>(RowMajor<128, 8>{}, SL{});
    auto y = register_tensor<int8_t>(RowMajor<128, 8>{}, SL{});
    for (int i = 0; i < 8; ++i) x.data()[i] = static_cast<float>(i) - 2.75f;
    ops::fill(y, 99);
    ops::copy_n<5>(x, y);
    int8_t const expected[] = {-2, -1, 0, 0, 1, 99, 99, 99};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y.data()[i], expected[i]);
    ops::copy_n<0>(x, y);
    EXPECT_EQ(y.data()[0], -2);
    // Parts of different sizes.
    auto z = register_tensor<float>(
        RowMajor<128, 2>{},
        ShardLayout<Layout<Shape<Int<128>, _2>, Stride<_0, _1>>, cute::tuple<S<0>>, Line>{});
    ops::copy_n<2>(x, z);
    EXPECT_EQ(z.data()[1], -1.75f);
  });
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
