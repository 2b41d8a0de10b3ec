// tile_load of tiles whose neighbours lie apart in global memory.
#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace {

using cute::_64;

/// A tile whose rows are neighbours, of a matrix whose columns are (Vector), or nothing is.
template <class T, bool Vector>
void check_turned(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  constexpr int step = 32 + 16 / static_cast<int>(sizeof(T));
  using Storage = Layout<Shape<_32, _64>, Stride<_1, Int<step>>>;
  int64_t const multiple = 16 / sizeof(T), between = Vector ? 1 : 2;
  int64_t const stride = Vector ? (columns + multiple - 1) / multiple * multiple : 2 * columns + 1;
  std::vector<T> storage(static_cast<size_t>(rows * stride + 16));
  for (size_t i = 0; i < storage.size(); ++i) storage[i] = convert<T>(100.f * noise(static_cast<int>(i)));
  T* base = storage.data();
  while (reinterpret_cast<uintptr_t>(base) % 16) ++base;
  GlobalArg<2> const arg{base, {rows, columns}, {stride, between}};
  launch(1, 64 * step * sizeof(T), [&] {
    auto tensor = global_tensor<T, Vector>(arg, make_shape(rows, columns));
    auto tile = shared_tensor<T>(cta_shared(), RowMajor<32, 64>{}, Storage{});
    ops::tile_load(make_tile_map<Shape<_32, _64>>(tensor), make_coord(row, column), tile);
    if (program_id<kThread>() != 0) return;
    for (int64_t r = 0; r < 32; ++r) {
      for (int64_t c = 0; c < 64; ++c) {
        bool const exists = row + r >= 0 && row + r < rows && column + c >= 0 && column + c < columns;
        double const wanted =
            exists ? convert<double>(base[(row + r) * stride + (column + c) * between]) : 0.;
        ASSERT_EQ(convert<double>(tile.data()[c * step + r]), wanted) << r << ", " << c;
      }
    }
  });
}

template <class T, bool Vector>
void check_turned() {
  check_turned<T, Vector>(32, 64, 0, 0);
  check_turned<T, Vector>(33, 65, 32, 64);
  check_turned<T, Vector>(100, 72, 64, 64);
  check_turned<T, Vector>(7, 5, 0, 0);
  check_turned<T, Vector>(1, 1, -3, -3);
  check_turned<T, Vector>(40, 200, 3, 7);
  check_turned<T, Vector>(40, 200, -31, 130);
}

TEST(TileLoad, NeighboursThatLieApart) {
  check_turned<cute::bfloat16_t, true>();
  check_turned<cute::half_t, false>();
  check_turned<int8_t, true>();
  check_turned<float, true>();
}

/// Kernels of a convolution, with their channels innermost: dense in memory from multiples of 16 bytes on, or
/// not.
template <class T>
void check_turned_dense(int64_t outputs, int64_t channels, int64_t offset) {
  constexpr int step = 48;
  using Tiled = Layout<Shape<_8, _32, _3, _2>, Stride<Int<192>, Int<6>, _2, _1>>;
  using Storage = Layout<Shape<_8, _32, _3, _2>, Stride<Int<6 * step>, _1, Int<2 * step>, Int<step>>>;
  alignas(16) static T storage[20 * 80 * 6 + 16];
  T* const base = storage + offset;
  for (int64_t i = 0; i < outputs * channels * 6; ++i) base[i] = convert<T>(100.f * noise(i));
  GlobalArg<4> const arg{base, {outputs, channels, 3, 2}, {channels * 6, 6, 2, 1}};
  for (int64_t const first : {0, 16, 32, 40}) {
    launch(1, 8 * 6 * step * sizeof(T), [&] {
      auto tensor = global_tensor<T, false>(arg, make_shape(outputs, channels, _3{}, _2{}));
      auto tile = shared_tensor<T>(cta_shared(), Tiled{}, Storage{});
      ops::tile_load(make_tile_map<Shape<_8, _32, _3, _2>>(tensor), make_coord(4, first, 0, 0), tile);
      if (program_id<kThread>() != 0) return;
      for (int o = 0; o < 8; ++o) {
        for (int c = 0; c < 32; ++c) {
          for (int p = 0; p < 6; ++p) {
            bool const exists = 4 + o < outputs && first + c < channels;
            double const wanted =
                exists ? convert<double>(base[((4 + o) * channels + first + c) * 6 + p]) : 0.;
            ASSERT_EQ(convert<double>(tile.data()[(o * 6 + p) * step + c]), wanted) << o << ", " << c;
          }
        }
      }
    });
  }
}

TEST(TileLoad, DensePlacesAreExchangedInRegisters) {
  for (int64_t const outputs : {9, 20}) {
    for (int64_t const channels : {64, 72, 61, 80}) {
      for (int64_t const offset : {0, 1, 8}) {
        check_turned_dense<cute::bfloat16_t>(outputs, channels, offset);
        check_turned_dense<int8_t>(outputs, channels, offset);
      }
    }
  }
}

}  // namespace
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
