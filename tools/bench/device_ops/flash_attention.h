// Attention forward over the public headers as a warp-specialised kernel: a producer warp fills rings of keys
// and of values, which the two CTAs of a cluster share; two consumer warpgroups hold 64 queries each and
// take turns, so that the softmax of one runs beside the products of the other. bf16, heads of 128.
#pragma once

#include "flash_tiles.h"

// Of a lambda that starts products: called as a function, it makes each product wait for the one before.
#define DEVICE_OPS_INLINE __attribute__((always_inline))

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
namespace flash {
struct Args {
  GlobalArg<3> q, k, v, out;  // (heads, rows, 128)
  TensorMap q_map, k_map, v_map;
  float scale;  // of the scores, times log2(e)
};

/// One consumer warpgroup: 64 rows of every tile of the CTA.
template <int Index, bool Causal, class KeyPipe, class ValuePipe, class QueryPipe, class Mine, class Other,
          class MapOut>
TILEFOUNDRY_DEVICE void consume(float scale, KeyPipe& key_pipe, ValuePipe& value_pipe, QueryPipe& query_pipe,
                                Mine& my_turn, Other& other_turn, MapOut const& out_map,
                                Order<Causal> order) {
  using Warpgroup = ThreadSlice<128 + 128 * Index, 128>;
  using Block = Matrix<64, kKeys>;
  using Out = Matrix<64, kD>;
  using OfRow = PerRow<Warpgroup>;
  auto s = register_tensor<float>(Block{}, Scores<Warpgroup, kKeys>{});
  auto p = register_tensor<T>(Block{}, Scores<Warpgroup, kKeys>{});
  auto o = register_tensor<float>(Out{}, Scores<Warpgroup, kD>{});
  auto m = register_tensor<float>(Column{}, OfRow{});
  auto l = register_tensor<float>(Lanes{}, PerLane<Warpgroup>{});
  auto alpha = register_tensor<float>(Column{}, OfRow{});
  auto const q = tile_at<64, kRows>(Index * 64 * 128);

  auto const take_turn = [&]() DEVICE_OPS_INLINE {
    my_turn.wait();
    my_turn.release();
  };
  auto const pass_turn = [&]() DEVICE_OPS_INLINE {
    other_turn.acquire();
    other_turn.commit();
  };
  auto const multiply_keys = [&]() DEVICE_OPS_INLINE {
    auto const keys = tile_at<kKeys, kKeys>(kQBytes + key_pipe.reading() * kKeysBytes);
    ops::fill(s, 0.f);
    ops::mma_issue(q, transposed_view(keys), s);
  };
  auto const multiply_values = [&]() DEVICE_OPS_INLINE {
    return ops::mma_issue(p, tile_at<kKeys, kKeys>(kQBytes + (kStages + value_pipe.reading()) * kKeysBytes),
                          o);
  };
  // Keys beyond the last, and under a causal mask those beyond the row, count for nothing.
  auto const mask = [&](int block) DEVICE_OPS_INLINE {
    auto columns = register_tensor<int32_t>(Layout<Shape<Int<kKeys>>, Stride<_1>>{}, Columns<Warpgroup>{});
    ops::iota(columns, Int<0>{}, block * kKeys, 1);
    auto limits = register_tensor<int32_t>(Column{}, OfRow{});
    int const keys = order.keys;
    if constexpr (Causal) {
      ops::iota(limits, Int<0>{}, order.row() + Index * 64 + 1, 1);
      ops::binary(op::min{}, limits, keys, limits);
    } else {
      ops::fill(limits, keys);
    }
    auto seen = register_tensor<bool>(Block{}, Scores<Warpgroup, kKeys>{});
    ops::binary(op::lt{}, view(columns, Block{}, ColumnOf<Warpgroup>{}),
                view(limits, Block{}, RowOf<Warpgroup, kKeys>{}), seen);
    ops::where(seen, s, -INFINITY, s);
  };
  // Scores become weights, powers of 2; their sums stay apart in the lanes of a row until the last block.
  auto const softmax = [&]() DEVICE_OPS_INLINE {
    auto highest = register_tensor<float>(Column{}, OfRow{});
    ops::reduce<op::max, Axes<1>>(s, highest);
    ops::binary(op::mul{}, highest, scale, highest);
    ops::binary(op::max{}, highest, m, highest);
    ops::binary(op::sub{}, m, highest, alpha);
    ops::unary(op::exp2_ftz{}, alpha, alpha);
    ops::cast(highest, m);
    ops::binary(op::mul{}, s, scale, s);
    ops::binary(op::sub{}, s, view(m, Block{}, RowOf<Warpgroup, kKeys>{}), s);
    ops::unary(op::exp2_ftz{}, s, s);
    auto sum = register_tensor<float>(Lanes{}, PerLane<Warpgroup>{});
    ops::reduce<op::sum, Axes<1, 3>>(view(s, ByLane<kKeys>{}, Scores<Warpgroup, kKeys>{}), sum);
    ops::binary(op::mul{}, l, view(alpha, Lanes{}, PerLane<Warpgroup>{}), l);
    ops::binary(op::add{}, l, sum, l);
  };

  if (Index == 1) pass_turn();
  bool more = order.place();
  if (more) {  // no product runs beside the first one
    query_pipe.wait();
    key_pipe.wait();
    take_turn();
    multiply_keys();
    pass_turn();
    ops::mma_wait(s);
    key_pipe.release();
  }
  while (more) {
    int const head = order.head, row = order.row() + Index * 64;
    // Blocks before this one need no mask.
    int const whole = (Causal && row + 1 < order.keys ? row + 1 : order.keys) / kKeys;
    int block = order.blocks() - 1;
    ops::fill(m, -1e30f);
    ops::fill(l, 0.f);
    ops::fill(o, 0.f);
    if (block >= whole) mask(block);
    softmax();
    ops::cast(s, p);
    auto const next_block = [&](bool masked) DEVICE_OPS_INLINE {
      key_pipe.wait();
      take_turn();
      multiply_keys();
      value_pipe.wait();
      auto running = multiply_values();
      pass_turn();
      ops::mma_wait<1>(s);
      key_pipe.release();
      if (masked) mask(block);
      softmax();
      ops::mma_wait(o, running);
      value_pipe.release();
      ops::binary(op::mul{}, o, view(alpha, Out{}, RowOf<Warpgroup, kD>{}), o);
      ops::cast(s, p);
    };
    for (--block; block >= whole; --block) next_block(true);
    for (; block >= 0; --block) next_block(false);

    // The last product of these rows runs beside the first of the next ones. That is started in any case: a
    // branch around it would make the compiler wait for each product.
    query_pipe.release();
    order.advance();
    more = order.place();
    if (more) {
      query_pipe.wait();
      key_pipe.wait();
    }
    value_pipe.wait();
    take_turn();
    multiply_keys();
    auto running = multiply_values();
    pass_turn();
    auto total = register_tensor<float>(Column{}, OfRow{});
    ops::reduce<op::sum, Axes<2>>(l, view(total, Layout<Shape<_64, _1, _1, _1>>{},
                                          ShardLayout<Layout<Shape<_4, _2, _8, _1>, Stride<_0, _1, _0, _0>>,
                                                      cute::tuple<S<0>, S<2>, B>, Mesh128<Warpgroup>>{}));
    ops::binary(op::div{}, 1.f, total, total);
    ops::mma_wait<1>(s);
    if (more) key_pipe.release();
    ops::mma_wait(o, running);
    value_pipe.release();
    ops::binary(op::mul{}, o, view(total, Out{}, RowOf<Warpgroup, kD>{}), o);
    auto result = register_tensor<T>(Out{}, Scores<Warpgroup, kD>{});
    ops::cast(o, result);
    ops::tile_store(out_map, make_coord(head, row, 0), result);
  }
}

template <bool Causal>
TILEFOUNDRY_DEVICE void body(Args const& args) {
  using Producer = ThreadSlice<0, 32>;
  using First = ThreadSlice<128, 128>;
  using Second = ThreadSlice<256, 128>;
  using Consumers = ThreadSlice<128, 256>;
  auto const tensor = [](GlobalArg<3> const& arg) {
    return global_tensor<T, true>(arg, make_shape(arg.shape[0], arg.shape[1], Int<kD>{}));
  };
  auto const q_map = make_tile_map<BoxQ, Rows128>(tensor(args.q), args.q_map);
  auto const k_map = make_tile_map<BoxKeys, Rows128, kCluster>(tensor(args.k), args.k_map);
  auto const v_map = make_tile_map<BoxKeys, Rows128, kCluster>(tensor(args.v), args.v_map);
  auto const out_map = make_tile_map<Shape<_1, _64, Int<kD>>>(tensor(args.out));
  Order<Causal> order(static_cast<int>(args.q.shape[0]), static_cast<int>(args.q.shape[1]),
                      static_cast<int>(args.k.shape[1]));

  char* const barriers = cta_shared() + kTilesBytes;
  Pipeline<kStages, Producer, Consumers, kCluster> key_pipe(barriers), value_pipe(barriers + 16 * kStages);
  Pipeline<1, Producer, Consumers> query_pipe(barriers + 32 * kStages);
  Pipeline<1, Second, First> first_turn(barriers + 32 * kStages + 16);
  Pipeline<1, First, Second> second_turn(barriers + 32 * kStages + 32);
  int const warpgroup = program_id<TopologyScope::thread>() / 128;
  if (warpgroup == 0) {
    ops::give_up_registers<40>();
    if (Producer::contains()) {
      for (; order.place(); order.advance()) {
        auto const load_keys = [&](int block) {
          key_pipe.acquire();
          ops::tile_load(k_map, make_coord(order.head, block * kKeys, 0),
                         tile_at<kKeys, kKeys>(kQBytes + key_pipe.loading() * kKeysBytes), key_pipe);
          key_pipe.commit();
        };
        int block = order.blocks() - 1;
        load_keys(block);
        query_pipe.acquire();
        ops::tile_load(q_map, make_coord(order.head, order.row(), 0), tile_at<kRows, kRows>(0), query_pipe);
        query_pipe.commit();
        for (; block >= 0; --block) {
          if (block > 0) load_keys(block - 1);
          value_pipe.acquire();
          ops::tile_load(v_map, make_coord(order.head, block * kKeys, 0),
                         tile_at<kKeys, kKeys>(kQBytes + (kStages + value_pipe.loading()) * kKeysBytes),
                         value_pipe);
          value_pipe.commit();
        }
      }
    }
  } else if (warpgroup == 1) {
    ops::claim_registers<232>();
    consume<0, Causal>(args.scale, key_pipe, value_pipe, query_pipe, first_turn, second_turn, out_map, order);
  } else {
    ops::claim_registers<232>();
    consume<1, Causal>(args.scale, key_pipe, value_pipe, query_pipe, second_turn, first_turn, out_map, order);
  }
  key_pipe.drain();
  value_pipe.drain();
  query_pipe.drain();
  first_turn.drain();
  second_turn.drain();
}

}  // namespace flash
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
