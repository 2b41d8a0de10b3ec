// An attention kernel as the compiler writes it: one target-neutral body, included by the CPU and the CUDA
// test.
//
// The includer defines TEST_ELEMENT (float, half_t, bfloat16_t), TEST_D (head extent) and TEST_CAUSAL (0 or
// 1) first.
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<128>>{};
}
namespace attention {
using namespace cute;

struct Args {
  GlobalArg<3> q, k, v, out;
};

using Element = TEST_ELEMENT;
using D = Int<TEST_D>;
using ThreadMesh = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, TopologyScope::thread>;
template <int N>
using Frag =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<shard::S<0>, shard::S<2>, shard::S<4>>, ThreadMesh>;
template <int N>
using FragPerRow = ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, _1, _0, _0, _0, _0>>,
                               cute::tuple<shard::S<0>, shard::S<2>, shard::S<4>>, ThreadMesh>;
template <int N>
using FragPerColumn =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, _0, _0, _2, _0, _1>>,
                cute::tuple<shard::S<0>, shard::S<2>, shard::S<4>>, ThreadMesh>;
using Column = ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>,
                           cute::tuple<shard::S<0>, shard::S<2>, shard::B>, ThreadMesh>;
using Row = ShardLayout<Layout<Shape<_8, _4, _2>, Stride<_2, _0, _1>>,
                        cute::tuple<shard::B, shard::B, shard::S<1>>, ThreadMesh>;

using Tile = Layout<Shape<_64, D>, Stride<D, _1>>;
using Square = Layout<Shape<_64, _64>, Stride<_64, _1>>;
// Rows are padded by 16 bytes, so that the eight rows of an ldmatrix lie in different banks.
constexpr int kPad = 16 / static_cast<int>(sizeof(Element));
using TileStorage = Layout<Shape<_64, D>, Stride<Int<TEST_D + kPad>, _1>>;
using SquareStorage = Layout<Shape<_64, _64>, Stride<Int<64 + kPad>, _1>>;
using FragInSquare =
    ShardLayout<Layout<Shape<_4, _2, _8, _8, _4, _2>,
                       Stride<Int<16 * (64 + kPad)>, Int<8 * (64 + kPad)>, Int<64 + kPad>, _8, _2, _1>>,
                cute::tuple<shard::S<0>, shard::S<2>, shard::S<4>>, ThreadMesh>;

constexpr bool kCollective = true;
constexpr int kThreads = 128;
constexpr int kTileBytes = 64 * (TEST_D + kPad) * static_cast<int>(sizeof(Element));
constexpr int kSharedBytes = 3 * kTileBytes + 64 * (64 + kPad) * static_cast<int>(sizeof(Element));

template <bool Vector>
TILEFOUNDRY_DEVICE void body(Args const& args) {
  int64_t const B = args.q.shape[0], S = args.q.shape[1];
  float const scale = TEST_D == 32 ? 0.1767766952966369f : TEST_D == 64 ? 0.125f : 0.08838834764831845f;
  float const negative = -1e30f;
  char* const smem = cta_shared();
  auto const shape = make_shape(B, S, D{});
  using Box = Shape<_1, _64, D>;
  auto const q_map = make_tile_map<Box>(global_tensor<Element, Vector>(args.q, shape));
  auto const k_map = make_tile_map<Box>(global_tensor<Element, Vector>(args.k, shape));
  auto const v_map = make_tile_map<Box>(global_tensor<Element, Vector>(args.v, shape));
  auto const out_map = make_tile_map<Box>(global_tensor<Element, Vector>(args.out, shape));
  auto qs = shared_tensor<Element>(smem, Tile{}, TileStorage{});
  auto ks = shared_tensor<Element>(smem + kTileBytes, Tile{}, TileStorage{});
  auto vs = shared_tensor<Element>(smem + 2 * kTileBytes, Tile{}, TileStorage{});
  auto ps = shared_tensor<Element>(smem + 3 * kTileBytes, Square{}, SquareStorage{});
  using PerRow = Layout<Shape<_64, _1>, Stride<_1, _1>>;
  int64_t const row_tiles = (S + 63) / 64;
  Pipeline<1> pipe;
  for (int64_t n = program_id<TopologyScope::cta>(); n < B * row_tiles;
       n += program_dim<TopologyScope::cta>()) {
    int64_t const b = n / row_tiles, i = n % row_tiles * 64;
    pipe.acquire();
    ops::tile_load(q_map, make_coord(b, i, 0), qs, pipe);
    auto rows = register_tensor<int32_t>(PerRow{}, Column{});
    ops::iota(rows, Int<0>{}, static_cast<int32_t>(i), 1);
    auto cols0 = register_tensor<int32_t>(Layout<Shape<_64>, Stride<_1>>{}, Row{});
    ops::iota(cols0, Int<0>{}, 0, 1);
    auto m = register_tensor<float>(PerRow{}, Column{});
    auto l = register_tensor<float>(PerRow{}, Column{});
    auto o = register_tensor<float>(Tile{}, Frag<TEST_D>{});
    ops::fill(m, negative);
    ops::fill(l, 0.f);
    ops::fill(o, 0.f);
    for (int64_t j = 0; j < S; j += 64) {
      pipe.acquire();
      ops::tile_load(k_map, make_coord(b, j, 0), ks, pipe);
      ops::tile_load(v_map, make_coord(b, j, 0), vs, pipe);
      pipe.commit();
      pipe.wait<0>();
      auto s = register_tensor<float>(Square{}, Frag<64>{});
      ops::fill(s, 0.f);
      ops::mma(qs, transposed_view(ks), s);
      ops::binary(op::mul{}, s, scale, s);
      auto cols = register_tensor<int32_t>(Layout<Shape<_64>, Stride<_1>>{}, Row{});
      ops::binary(op::add{}, cols0, static_cast<int32_t>(j), cols);
      auto mask = register_tensor<bool>(Square{}, Frag<64>{});
      ops::binary(op::lt{}, view(cols, Square{}, FragPerColumn<64>{}), static_cast<int32_t>(S), mask);
#if TEST_CAUSAL
      auto below = register_tensor<bool>(Square{}, Frag<64>{});
      ops::binary(op::le{}, view(cols, Square{}, FragPerColumn<64>{}), view(rows, Square{}, FragPerRow<64>{}),
                  below);
      ops::binary(op::logical_and{}, mask, below, mask);
#endif
      ops::where(mask, s, negative, s);
      auto m2 = register_tensor<float>(PerRow{}, Column{});
      ops::reduce<op::max, Axes<1>>(s, m2);
      ops::binary(op::max{}, m, m2, m2);
      ops::binary(op::sub{}, s, view(m2, Square{}, FragPerRow<64>{}), s);
      ops::unary(op::exp{}, s, s);
      auto alpha = register_tensor<float>(PerRow{}, Column{});
      ops::binary(op::sub{}, m, m2, alpha);
      ops::unary(op::exp{}, alpha, alpha);
      auto sum = register_tensor<float>(PerRow{}, Column{});
      ops::reduce<op::sum, Axes<1>>(s, sum);
      ops::binary(op::mul{}, l, alpha, l);
      ops::binary(op::add{}, l, sum, l);
      auto p = register_tensor<Element>(Square{}, Frag<64>{});
      ops::cast(s, p);
      tilefoundry::copy(p, view(ps, Square{}, FragInSquare{}));
      ops::sync<SyncKind::cta>();
      ops::binary(op::mul{}, o, view(alpha, Tile{}, FragPerRow<TEST_D>{}), o);
      ops::mma(ps, vs, o);
      ops::cast(m2, m);
      pipe.release();
    }
    ops::binary(op::div{}, o, view(l, Tile{}, FragPerRow<TEST_D>{}), o);
    auto result = register_tensor<Element>(Tile{}, Frag<TEST_D>{});
    ops::cast(o, result);
    ops::tile_store(out_map, make_coord(b, i, 0), result);
  }
}

}  // namespace attention
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
