// One op of the runtime each, over tensors well beyond L2: what the headers reach beside the machine's own
// ceilings. Bodies of kernels of 256 threads, as the compiler would write them.
#include <tilefoundry/runtime.h>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {
template <>
TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::thread>() noexcept {
  return cute::Shape<cute::Int<256>>{};
}
namespace device_ops {
using namespace cute;
using shard::B;
using shard::S;

constexpr int kThreads = 256;
constexpr auto kThread = TopologyScope::thread;
using Linear = Mesh<Layout<Shape<Int<kThreads>>, Stride<_1>>, kThread>;

TILEFOUNDRY_DEVICE int64_t cta() { return program_id<TopologyScope::cta>(); }

/// What a CTA takes of a vector: 32 elements of each instance, in groups of neighbours that are 16 bytes of
/// the wider type.
constexpr int kVector = 32 * kThreads;
using Vector = Layout<Shape<Int<kVector>>, Stride<_1>>;
template <int Group>
using InGroups =
    ShardLayout<Layout<Shape<Int<32 / Group>, Int<kThreads>, Int<Group>>, Stride<Int<Group>, _0, _1>>,
                cute::tuple<S<1>>, Linear>;

template <class T>
TILEFOUNDRY_DEVICE auto vector_map(GlobalArg<1> const& arg) {
  return make_tile_map<Shape<Int<kVector>>>(global_tensor<T, true>(arg, make_shape(arg.shape[0])));
}

struct Vectors {
  GlobalArg<1> a, b, out;
};

/// out = op(a, b).
template <class In, class Out, bool Binary, class F>
TILEFOUNDRY_DEVICE void map_vectors(Vectors const& args, F const& f) {
  auto const at = make_coord(cta() * kVector);
  using Groups = InGroups<16 / (sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out))>;
  auto a = register_tensor<In>(Vector{}, Groups{});
  auto b = register_tensor<In>(Vector{}, Groups{});
  auto out = register_tensor<Out>(Vector{}, Groups{});
  ops::tile_load(vector_map<In>(args.a), at, a);
  if constexpr (Binary) ops::tile_load(vector_map<In>(args.b), at, b);
  f(a, b, out);
  ops::tile_store(vector_map<Out>(args.out), at, out);
}

/// Instances hold eighths of a row of 8192, one after the other; one number of a row each holds whole.
using Row = Layout<Shape<Int<8192>>, Stride<_1>>;
using InEights =
    ShardLayout<Layout<Shape<_4, Int<kThreads>, _8>, Stride<_8, _0, _1>>, cute::tuple<S<1>>, Linear>;
using Whole = ShardLayout<Layout<Shape<_1>, Stride<_0>>, cute::tuple<B>, Linear>;
using OfWhole =
    ShardLayout<Layout<Shape<_4, Int<kThreads>, _8>, Stride<_0, _0, _0>>, cute::tuple<S<1>>, Linear>;

/// The workspace of reductions of a row.
TILEFOUNDRY_DEVICE auto row_workspace() {
  using Workspace = Layout<Shape<Int<kThreads / 32>>, Stride<_1>>;
  return shared_tensor<float>(cta_shared(), Workspace{}, Workspace{});
}

struct Rows {
  GlobalArg<2> in;   // (rows, 8192)
  GlobalArg<1> out;  // rows
};

/// out[i] = Op over row i in f32: one CTA each.
template <class T, class Op>
TILEFOUNDRY_DEVICE void reduce_rows(Rows const& args) {
  auto const in = make_tile_map<Shape<_1, Int<8192>>>(
      global_tensor<T, true>(args.in, make_shape(args.in.shape[0], args.in.shape[1])));
  auto const out =
      make_tile_map<Shape<_1>>(global_tensor<float, true>(args.out, make_shape(args.out.shape[0])));
  auto x = register_tensor<T>(Row{}, InEights{});
  auto y = register_tensor<float>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});
  ops::tile_load(in, make_coord(cta(), 0), x);
  ops::reduce<Op, Axes<0>>(x, y, row_workspace());
  ops::tile_store(out, make_coord(cta()), y);
}

struct RowMap {
  GlobalArg<2> in, out;  // (rows, 8192)
  GlobalArg<1> weight;   // 8192
};

template <class T>
TILEFOUNDRY_DEVICE auto row_map(GlobalArg<2> const& arg) {
  return make_tile_map<Shape<_1, Int<8192>>>(
      global_tensor<T, true>(arg, make_shape(arg.shape[0], arg.shape[1])));
}

/// out = in / sqrt(mean(in^2) + 1e-6) * weight: a row for each CTA.
template <class T>
TILEFOUNDRY_DEVICE void normalise_rows(RowMap const& args) {
  auto x = register_tensor<T>(Row{}, InEights{});
  ops::tile_load(row_map<T>(args.in), make_coord(cta(), 0), x);
  auto wide = register_tensor<float>(Row{}, InEights{});
  auto squares = register_tensor<float>(Row{}, InEights{});
  auto mean = register_tensor<float>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});
  ops::cast(x, wide);
  ops::unary(op::square{}, wide, squares);
  ops::reduce<op::mean, Axes<0>>(squares, mean, row_workspace());
  ops::binary(op::add{}, mean, 1e-6f, mean);
  ops::unary(op::rsqrt{}, mean, mean);
  auto weight = register_tensor<T>(Row{}, InEights{});
  ops::tile_load(
      make_tile_map<Shape<Int<8192>>>(global_tensor<T, true>(args.weight, make_shape(args.weight.shape[0]))),
      make_coord(0), weight);
  auto scale = register_tensor<float>(Row{}, InEights{});
  ops::cast(weight, scale);
  ops::binary(op::mul{}, wide, view(mean, Row{}, OfWhole{}), wide);
  ops::binary(op::mul{}, wide, scale, wide);
  ops::cast(wide, x);
  ops::tile_store(row_map<T>(args.out), make_coord(cta(), 0), x);
}

/// out = softmax(in) along rows: a row for each CTA.
template <class T>
TILEFOUNDRY_DEVICE void softmax_rows(RowMap const& args) {
  auto x = register_tensor<T>(Row{}, InEights{});
  ops::tile_load(row_map<T>(args.in), make_coord(cta(), 0), x);
  auto wide = register_tensor<float>(Row{}, InEights{});
  auto of_row = register_tensor<float>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});
  ops::cast(x, wide);
  ops::reduce<op::max, Axes<0>>(wide, of_row, row_workspace());
  ops::binary(op::sub{}, wide, view(of_row, Row{}, OfWhole{}), wide);
  ops::binary(op::mul{}, wide, 1.44269504f, wide);
  ops::unary(op::exp2_ftz{}, wide, wide);
  ops::reduce<op::sum, Axes<0>>(wide, of_row, row_workspace());
  ops::binary(op::div{}, 1.f, of_row, of_row);
  ops::binary(op::mul{}, wide, view(of_row, Row{}, OfWhole{}), wide);
  ops::cast(wide, x);
  ops::tile_store(row_map<T>(args.out), make_coord(cta(), 0), x);
}

struct Products {
  GlobalArg<2> out;  // f32 (128 * CTAs, 256)
  int64_t steps;
};
constexpr int kProductShared = (128 + 256) * 128;

/// The bare loop of products: 128 x 256 x (128 bytes) by two warpgroups, `steps` times from the same tiles.
template <class T>
TILEFOUNDRY_DEVICE void multiply(Products const& args) {
  using Warpgroups = Mesh<Layout<Shape<_2, _4, _8, _4>, Stride<Int<128>, _32, _4, _1>>, kThread>;
  using Accumulator =
      ShardLayout<Layout<Shape<_2, _4, _2, _8, _32, _4, _2>, Stride<_0, _0, _2, _0, _4, _0, _1>>,
                  cute::tuple<S<0>, S<1>, S<3>, S<5>>, Warpgroups>;
  using Rows128 = Swizzle<3, 4, 3>;
  using Depth = Int<128 / static_cast<int>(sizeof(T))>;
  using A = Layout<Shape<Int<128>, Depth>, Stride<Depth, _1>>;
  using Transposed = Layout<Shape<Int<256>, Depth>, Stride<Depth, _1>>;
  using C = Layout<Shape<Int<128>, Int<256>>, Stride<Int<256>, _1>>;
  auto a = shared_tensor<T, Rows128>(cta_shared(), A{}, A{});
  auto b = shared_tensor<T, Rows128>(cta_shared() + 16384, Transposed{}, Transposed{});
  // Noise: the rate depends on how many bits change.
  for (int i = program_id<kThread>(); i < 384 * Depth::value; i += kThreads) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + 12345u;
    x = (x ^ x >> 15) * 2246822519u;
    a.data()[i] = convert<T>(static_cast<float>((x ^ x >> 13) >> 8) * 0x1p-23f - 1.f);
  }
  ops::sync<SyncKind::cta>();
  auto c = register_tensor<float>(C{}, Accumulator{});
  ops::fill(c, 0.f);
  ops::mma_issue(a, transposed_view(b), c);
  for (int64_t i = 1; i < args.steps; ++i) {
    ops::mma_issue(a, transposed_view(b), c);
    ops::mma_wait<1>();
  }
  ops::mma_wait(c);
  auto const out = make_tile_map<Shape<Int<128>, Int<256>>>(
      global_tensor<float, true>(args.out, make_shape(args.out.shape[0], args.out.shape[1])));
  ops::tile_store(out, make_coord(cta() * 128, 0), c);
}

}  // namespace device_ops
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
