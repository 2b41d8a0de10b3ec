// The tiles of attention over the public headers, how products spread them over a warpgroup, and the order of
// the work. bf16, heads of 128.
#pragma once

#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<384>>{};
}

namespace flash {
using namespace cute;
using shard::B;
using shard::S;
using T = bfloat16_t;

constexpr int kThreads = 384, kCluster = 2, kStages = 2;
constexpr int kD = 128, kRows = 128, kKeys = 176;
constexpr int kQBytes = kRows * kD * 2, kKeysBytes = kKeys * kD * 2;
constexpr int kTilesBytes = kQBytes + 2 * kStages * kKeysBytes;
constexpr int kSharedBytes = kTilesBytes + 32 * kStages + 48;

using Rows128 = Swizzle<3, 4, 3>;
using BoxQ = Shape<_1, Int<kRows>, Int<kD>>;
using BoxKeys = Shape<_1, Int<kKeys>, Int<kD>>;
constexpr int kBoxQ[] = {1, kRows, kD}, kBoxKeys[] = {1, kKeys, kD}, kSwizzleBits = 3;

template <int R, int C>
using Matrix = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C>, _1>>;

/// R rows of a tile of `TileRows` rows of kD elements: two columns of rows of 128 bytes.
template <int R, int TileRows>
TILEFOUNDRY_DEVICE auto tile_at(int bytes) {
  using Storage = Layout<Shape<Int<R>, Int<kD / 64>, _64>, Stride<_64, Int<64 * TileRows>, _1>>;
  return shared_tensor<T, Rows128>(cta_shared() + bytes, Matrix<R, kD>{}, Storage{});
}

/// 64 rows over a warpgroup as products accumulate, and one number of each row: for the whole row, or for
/// each lane of the quad that holds it.
template <int N>
using Fragment = Shape<_4, _2, _8, Int<N / 8>, _4, _2>;
using ByRow = cute::tuple<S<0>, S<2>, S<4>>;
template <class Warpgroup>
using Mesh128 = MeshSlice<Warpgroup, Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>>;
template <class Warpgroup, int N>
using Scores = ShardLayout<Layout<Fragment<N>, Stride<_0, _2, _0, _4, _0, _1>>, ByRow, Mesh128<Warpgroup>>;
template <class Warpgroup, int N>
using RowOf = ShardLayout<Layout<Fragment<N>, Stride<_0, _1, _0, _0, _0, _0>>, ByRow, Mesh128<Warpgroup>>;
template <class Warpgroup>
using PerRow = ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>, cute::tuple<S<0>, S<2>, B>,
                           Mesh128<Warpgroup>>;
template <class Warpgroup>
using PerLane = ShardLayout<Layout<Shape<_4, _2, _8, _1, _4, _1>, Stride<_0, _1, _0, _0, _0, _0>>, ByRow,
                            Mesh128<Warpgroup>>;
template <class Warpgroup>
using Columns = ShardLayout<Layout<Shape<Int<kKeys / 8>, _4, _2>, Stride<_2, _0, _1>>,
                            cute::tuple<B, B, S<1>>, Mesh128<Warpgroup>>;
template <class Warpgroup>
using ColumnOf =
    ShardLayout<Layout<Fragment<kKeys>, Stride<_0, _0, _0, _2, _0, _1>>, ByRow, Mesh128<Warpgroup>>;
using Column = Layout<Shape<_64, _1>, Stride<_1, _1>>;
template <int N>
using ByLane = Layout<Shape<_64, Int<N / 8>, _4, _2>, Stride<Int<N>, _8, _2, _1>>;
using Lanes = Layout<Shape<_64, _1, _4, _1>, Stride<_4, _4, _1, _1>>;

/// Which rows and which head a cluster computes, one after the other: those of a head together or, under a
/// causal mask, the longest of all heads first, where each round of clusters starts at another one, so that
/// none gets the longest of every round.
template <bool Causal>
struct Order {
  static constexpr int kTurn = 5;

  int heads, tiles, keys;  // tiles of rows of a cluster
  int clusters, first = 0, slot = 0, head = 0, tile = 0;

  TILEFOUNDRY_DEVICE Order(int all_heads, int rows, int all_keys)
      : heads(all_heads),
        tiles((rows + kCluster * kRows - 1) / (kCluster * kRows)),
        keys(all_keys),
        clusters(static_cast<int>(program_dim<TopologyScope::cta>()) / kCluster),
        slot(static_cast<int>(program_id<TopologyScope::cta>()) / kCluster) {}

  /// Whether there is work left for the cluster; if so, `head` and `tile` say where.
  TILEFOUNDRY_DEVICE bool place() {
    int const n = first + slot;
    head = Causal ? n % heads : n / tiles;
    tile = Causal ? tiles - 1 - n / heads : n % tiles;
    return n < heads * tiles;
  }
  TILEFOUNDRY_DEVICE void advance() {
    first += clusters;
    slot = (slot + kTurn) % clusters;
  }
  /// The first row of the CTA.
  TILEFOUNDRY_DEVICE int row() const {
    return (tile * kCluster + static_cast<int>(program_id<TopologyScope::cta>()) % kCluster) * kRows;
  }
  /// Blocks of keys that some row of the cluster sees.
  TILEFOUNDRY_DEVICE int blocks() const {
    int const last = (tile + 1) * kCluster * kRows;
    return ((Causal && last < keys ? last : keys) + kKeys - 1) / kKeys;
  }
};

}  // namespace flash
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
