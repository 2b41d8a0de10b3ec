// Where swizzled tiles and fragments of tensor cores lie, at compile time, beside tables from their
// definitions in the PTX ISA that use nothing of CuTe.
#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

/// A tile in columns of rows of 16 * 2^Bits bytes, as bulk copies and wgmma take them.
template <class T, int Rows, int Columns, int Bits, int Width = (16 << Bits) / static_cast<int>(sizeof(T))>
using Swizzled = decltype(shared_tensor<T, cute::Swizzle<Bits, 4, 3>>(
    static_cast<char*>(nullptr), RowMajor<Rows, Columns>{},
    Layout<Shape<Int<Rows>, Int<Columns / Width>, Int<Width>>, Stride<Int<Width>, Int<Width * Rows>, _1>>{}));

/// PTX ISA, swizzling modes of tensor copies: the 16-byte chunks of a row are exchanged by the row's number;
/// the pattern repeats after 8 rows of 128 bytes, which are 2 rows of 64 or 4 rows of 32 bytes to a number.
constexpr int chunk_at(int bits, int row, int chunk) {
  switch (bits) {
    case 3:
      return chunk ^ row % 8;
    case 2:
      return chunk ^ row / 2 % 4;
    case 1:
      return chunk ^ row / 4 % 2;
    default:
      return chunk;
  }
}

template <class T, int Bits>
constexpr bool swizzle_is_as_defined() {
  constexpr int rows = 24, row_bytes = 16 << Bits, bytes = static_cast<int>(sizeof(T));
  constexpr int columns = 2 * row_bytes / bytes;
  using M = detail::Matrix<Swizzled<T, rows, columns, Bits>>;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      int const column = j * bytes / row_bytes, inside = j * bytes % row_bytes;
      int const address =
          column * rows * row_bytes + i * row_bytes + 16 * chunk_at(Bits, i, inside / 16) + inside % 16;
      if (M::offset(i, j) * bytes != address) return false;
    }
  }
  return true;
}

template <class T>
constexpr bool swizzles_are_as_defined() {
  return swizzle_is_as_defined<T, 0>() && swizzle_is_as_defined<T, 1>() && swizzle_is_as_defined<T, 2>() &&
         swizzle_is_as_defined<T, 3>();
}

static_assert(swizzles_are_as_defined<int8_t>(), "8-bit elements");
static_assert(swizzles_are_as_defined<cute::half_t>(), "16-bit elements");
static_assert(swizzles_are_as_defined<float>(), "32-bit elements");
static_assert(swizzles_are_as_defined<double>(), "64-bit elements");

using Warps = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, TopologyScope::thread>;

/// A fragment of 16-row blocks over four warps: a warp has rows of its own, a lane pairs of neighbours.
template <class T, int N>
using Fragment = decltype(register_tensor<T>(
    RowMajor<64, N>{},
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<S<0>, S<2>, S<4>>, Warps>{}));

/// PTX ISA, mma.m16n8k16 and wgmma.m64nNk16: c0 and c1 of a lane stand in row groupID and columns
/// 2 * threadID_in_group and + 1, c2 and c3 eight rows below; blocks of eight columns follow one another. The
/// registers of 16-bit A operands are the same over their 16 columns, lower rows before upper columns.
template <class T, int N>
constexpr bool fragment_is_as_defined() {
  using Rows = detail::FragmentAxis<Fragment<T, N>, 0>;
  using Columns = detail::FragmentAxis<Fragment<T, N>, 1>;
  using F = detail::FragmentOf<Fragment<T, N>>;
  if (Rows::count != 2 || Columns::count != N / 4) return false;
  for (int thread = 0; thread < 128; ++thread) {
    auto const coords = cute::make_coord(thread / 32, thread / 4 % 8, thread % 4);
    int const group = thread % 32 / 4, in_group = thread % 4;
    for (int half = 0; half < 2; ++half) {
      for (int j = 0; j < N / 4; ++j) {
        if (F::template origin<0>(coords) + Rows::step(half) != thread / 32 * 16 + group + 8 * half)
          return false;
        if (F::template origin<1>(coords) + Columns::step(j) != j / 2 * 8 + 2 * in_group + j % 2)
          return false;
        if (Rows::offset(half) + Columns::offset(j) != half * (N / 4) + j) return false;
      }
    }
  }
  return true;
}

static_assert(fragment_is_as_defined<float, 8>() && fragment_is_as_defined<float, 64>() &&
                  fragment_is_as_defined<float, 256>(),
              "accumulators");
static_assert(fragment_is_as_defined<cute::half_t, 16>() && fragment_is_as_defined<cute::bfloat16_t, 128>(),
              "operands in registers");

/// The tables can tell: other widths of rows are other permutations, and another order of lanes another
/// fragment.
template <class T, int Bits, int Other>
constexpr bool differ() {
  using M = detail::Matrix<Swizzled<T, 8, 128, Bits>>;
  for (int i = 0; i < 8; ++i) {
    int const chunk = M::offset(i, 0) * static_cast<int>(sizeof(T)) / 16 % (1 << Bits);
    if (chunk != chunk_at(Other, i, 0) % (1 << Bits)) return true;
  }
  return false;
}

TEST(LayoutTables, TellPermutationsApart) {
  EXPECT_TRUE((differ<cute::half_t, 3, 2>()));
  EXPECT_TRUE((differ<cute::half_t, 2, 3>()));
  EXPECT_TRUE((differ<cute::half_t, 1, 0>()));
  EXPECT_FALSE((differ<cute::half_t, 3, 3>()));
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
