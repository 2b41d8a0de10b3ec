// C (M, N) = A (M, K) @ B in bf16 with f32 accumulation, as a warp-specialised kernel over the public
// headers: a producer warp fills a ring of stages, two consumer warpgroups multiply 64 rows each and store
// their part through shared memory, over a persistent grid in an order that keeps tiles in L2. B is stored as
// (N, K) or, with GEMM_B_BY_ROWS, as (K, N).
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<384>>{};
}
namespace gemm {
using namespace cute;
using shard::S;

struct Args {
  GlobalArg<2> a, b, c;
  TensorMap a_map, b_map, c_map;
};

#ifndef GEMM_COLUMNS
#define GEMM_COLUMNS 256
#endif
#ifndef GEMM_CLUSTER
#define GEMM_CLUSTER 2
#endif

using T = bfloat16_t;
constexpr bool kCollective = true;
constexpr int kThreads = 384;
constexpr int kM = 128, kN = GEMM_COLUMNS, kK = 64, kStages = 4, kCluster = GEMM_CLUSTER;
constexpr int kStoredColumns = 64, kStoreBuffers = 2;
constexpr int kGroup = 8;  // rows of cluster tiles that are walked together

constexpr int kTileBytesA = kM * kK * 2, kTileBytesB = kN * kK * 2;
constexpr int kStageBytes = kTileBytesA + kTileBytesB;
constexpr int kStoreBytes = 64 * kStoredColumns * 2;
constexpr int kBarriersAt = kStages * kStageBytes + 2 * kStoreBuffers * kStoreBytes;
constexpr int kSharedBytes = kBarriersAt + 16 * kStages;

template <int R, int C>
using Matrix = Layout<Shape<Int<R>, Int<C>>, Stride<Int<C>, _1>>;
using Rows128 = Swizzle<3, 4, 3>;  // rows of 128 bytes
using BoxA = Shape<Int<kM>, Int<kK>>;
#ifdef GEMM_B_BY_ROWS
constexpr bool kByRows = true;
#else
constexpr bool kByRows = false;
#endif
using BoxB = std::conditional_t<kByRows, Shape<Int<kK>, Int<kN>>, Shape<Int<kN>, Int<kK>>>;
using BoxC = Shape<_64, Int<kStoredColumns>>;

// What the host describes to the driver: the boxes, all with rows of 128 bytes.
constexpr int kBoxA[] = {kM, kK}, kBoxB[] = {kByRows ? kK : kN, kByRows ? kN : kK},
              kBoxC[] = {64, kStoredColumns};
constexpr int kSwizzleBits = 3;

template <int R>
TILEFOUNDRY_DEVICE auto tile_at(int bytes) {
  return shared_tensor<T, Rows128>(cta_shared() + bytes, Matrix<R, 64>{}, Matrix<R, 64>{});
}

/// The tile of B as it is stored: rows of (N, K), or blocks of 64 columns of (K, N).
TILEFOUNDRY_DEVICE auto b_tile_at(int bytes) {
  if constexpr (kByRows) {
    using Storage = Layout<Shape<Int<kK>, Int<kN / 64>, _64>, Stride<_64, Int<64 * kK>, _1>>;
    return shared_tensor<T, Rows128>(cta_shared() + bytes, Matrix<kK, kN>{}, Storage{});
  } else {
    return tile_at<kN>(bytes);
  }
}

/// The same as the (K, N) operand of a product.
TILEFOUNDRY_DEVICE auto b_operand_at(int bytes) {
  if constexpr (kByRows) {
    return b_tile_at(bytes);
  } else {
    return transposed_view(b_tile_at(bytes));
  }
}

/// 64 rows of N columns over a warpgroup as its products accumulate: in registers, in the order of the
/// columns, and in a tile of rows of 64 elements.
template <int N>
using FragmentShape = Shape<_4, _2, _8, Int<N / 8>, _4, _2>;
template <class Warpgroup>
using FragmentMesh = MeshSlice<Warpgroup, Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>>;
template <class Warpgroup, int N>
using InRegisters = ShardLayout<Layout<FragmentShape<N>, Stride<_0, _2, _0, _4, _0, _1>>,
                                cute::tuple<S<0>, S<2>, S<4>>, FragmentMesh<Warpgroup>>;
template <class Warpgroup>
using InTile = ShardLayout<Layout<FragmentShape<64>, Stride<Int<16 * 64>, Int<8 * 64>, _64, _8, _2, _1>>,
                           cute::tuple<S<0>, S<2>, S<4>>, FragmentMesh<Warpgroup>>;

/// Where a cluster tile lies: kGroup rows of tiles at a time, column after column.
struct Order {
  int64_t rows, columns;  // in cluster tiles
  TILEFOUNDRY_DEVICE int64_t count() const { return rows * columns; }
  TILEFOUNDRY_DEVICE void place(int64_t tile, int64_t& row, int64_t& column) const {
    int64_t const span = kGroup * columns, first = tile / span * kGroup, within = tile % span;
    int64_t const group = rows - first < kGroup ? rows - first : int64_t(kGroup);
    column = within / group;
    row = first + within % group;
  }
};

/// One consumer warpgroup: its 64 rows of every tile of the CTA.
template <int Index, class Pipe, class MapC>
TILEFOUNDRY_DEVICE void consume(Pipe& pipe, MapC const& c_map, Order const& order, int64_t steps,
                                int cluster) {
  using Warpgroup = ThreadSlice<128 + 128 * Index, 128>;
  auto c = register_tensor<float>(Matrix<64, kN>{}, InRegisters<Warpgroup, kN>{});
  int buffer = 0;
  for (int64_t tile = program_id<TopologyScope::cta>() / cluster; tile < order.count();
       tile += program_dim<TopologyScope::cta>() / cluster) {
    ops::fill(c, 0.f);
    for (int64_t k = 0; k < steps; ++k) {
      pipe.wait();
      auto const a = tile_at<64>(pipe.reading() * kStageBytes + Index * 64 * kK * 2);
      ops::mma_issue(a, b_operand_at(pipe.reading() * kStageBytes + kTileBytesA), c);
      if (k > 0) {
        ops::mma_wait<1>();
        pipe.release();
      }
    }
    ops::mma_wait<0>(c);
    pipe.release();

    int64_t row, column;
    order.place(tile, row, column);
    row = (row * cluster + program_id<TopologyScope::cta>() % cluster) * kM + 64 * Index;
    TILEFOUNDRY_UNROLL
    for (int j = 0; j < kN / kStoredColumns; ++j) {
      constexpr int count = kStoredColumns / 2;
      using Stored = Matrix<64, kStoredColumns>;
      using Registers = InRegisters<Warpgroup, kStoredColumns>;
      auto columns = register_tensor<T>(Stored{}, Registers{});
      ops::cast(
          make_shard_tensor(make_tensor(c.data() + j * count, Layout<Int<count>>{}), Stored{}, Registers{}),
          columns);
      auto const staged = tile_at<64>(kStages * kStageBytes + (Index * kStoreBuffers + buffer) * kStoreBytes);
      ops::tile_store_wait<kStoreBuffers - 1>();
      ops::sync<SyncKind::named, Warpgroup::first, 128, 0u, 1 + Index>();
      copy(columns, view(staged, Stored{}, InTile<Warpgroup>{}));
      ops::sync<SyncKind::named, Warpgroup::first, 128, 0u, 1 + Index>();
      ops::tile_store_issue<Warpgroup>(c_map, make_coord(row, column * kN + j * kStoredColumns), staged);
      buffer = (buffer + 1) % kStoreBuffers;
    }
  }
  ops::tile_store_wait();
}

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args) {
  constexpr int cluster = Vector ? kCluster : 1;
  // Where bulk copies do the work a warp starts them; elsewhere a warpgroup copies.
  using Producer = ThreadSlice<0, Vector ? 32 : 128>;
  using Consumer = ThreadSlice<128, 256>;
  int64_t const m = args.a.shape[0], n = args.b.shape[kByRows ? 1 : 0],
                steps = (args.a.shape[1] + kK - 1) / kK;
  auto const shape = [](GlobalArg<2> const& arg) { return make_shape(arg.shape[0], arg.shape[1]); };
  auto const a_map =
      make_tile_map<BoxA, Rows128>(global_tensor<T, Vector>(args.a, shape(args.a)), args.a_map);
  auto const b_map =
      make_tile_map<BoxB, Rows128, cluster>(global_tensor<T, Vector>(args.b, shape(args.b)), args.b_map);
  auto const c_map =
      make_tile_map<BoxC, Rows128>(global_tensor<T, Vector>(args.c, shape(args.c)), args.c_map);
  Order const order{(m + cluster * kM - 1) / (cluster * kM), (n + kN - 1) / kN};

  Pipeline<kStages, Producer, Consumer, cluster> pipe(cta_shared() + kBarriersAt);
  int const warpgroup = program_id<TopologyScope::thread>() / 128;
  if (warpgroup == 0) {
    ops::give_up_registers<40>();
    if (Producer::contains()) {
      for (int64_t tile = program_id<TopologyScope::cta>() / cluster; tile < order.count();
           tile += program_dim<TopologyScope::cta>() / cluster) {
        int64_t row, column;
        order.place(tile, row, column);
        row = (row * cluster + program_id<TopologyScope::cta>() % cluster) * kM;
        for (int64_t k = 0; k < steps; ++k) {
          pipe.acquire();
          int const stage = pipe.loading() * kStageBytes;
          ops::tile_load(a_map, make_coord(row, k * kK), tile_at<kM>(stage), pipe);
          auto const b_coord = kByRows ? make_coord(k * kK, column * kN) : make_coord(column * kN, k * kK);
          ops::tile_load(b_map, b_coord, b_tile_at(stage + kTileBytesA), pipe);
          pipe.commit();
        }
      }
    }
  } else if (warpgroup == 1) {
    ops::claim_registers<232>();
    consume<0>(pipe, c_map, order, steps, cluster);
  } else {
    ops::claim_registers<232>();
    consume<1>(pipe, c_map, order, steps, cluster);
  }
  pipe.drain();
}

}  // namespace gemm
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
