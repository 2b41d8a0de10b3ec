"""What kernels must not say, with the message that refuses it."""

PRELUDE = """
#include <tilefoundry/runtime.h>
using namespace cute;
namespace tilefoundry { inline namespace TILEFOUNDRY_UNIT {
template <> constexpr auto program_shape<TopologyScope::thread>() noexcept { return Shape<Int<128>>{}; }
using Warps = Mesh<Layout<Shape<_4, _32>, Stride<_32, _1>>, TopologyScope::thread>;
using InMemory = ShardLayout<Layout<Shape<_4, _32>, Stride<_32, _1>>, cute::tuple<shard::S<0>, shard::S<1>>, Warps>;
using Ctas = Mesh<Layout<Shape<_2, Int<128>>, Stride<Int<128>, _1>>, TopologyScope::cta, TopologyScope::thread>;
inline void kernel() {
  auto row = Layout<Shape<Int<128>>, Stride<_1>>{};
  using PerThread = ShardLayout<Layout<Shape<_4, _32>, Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::S<1>>, Warps>;
  auto x = register_tensor<float>(row, PerThread{});
  using Whole = ShardLayout<Layout<Shape<_1>, Stride<_0>>, cute::tuple<shard::B, shard::B>, Warps>;
  auto y = register_tensor<float>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});
  (void)x; (void)y; (void)row;
  %s
}
}}
"""
_MEMORY = "auto t = make_tensor(make_gmem_ptr(static_cast<float*>(nullptr)), row);"
_HALF = (
    "using Half = MeshSlice<ThreadSlice<64, 64>, Layout<Shape<_2, _32>, Stride<_32, _1>>>;"
    "auto z = register_tensor<float>(Layout<Shape<_64>, Stride<_1>>{}, ShardLayout<Layout<Shape<_2, _32>,"
    "Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::S<1>>, Half>{});"
)

# Statements of the kernel in PRELUDE, and the words of the first error.
REFUSED = {
    "raw pointer": (
        "make_shard_tensor(static_cast<float*>(nullptr), row, PerThread{});",
        "a raw pointer has no residency",
    ),
    "Dynamic in local()": (
        _MEMORY + "local(make_shard_tensor(t, row, ShardLayout<Layout<Shape<_4, _32>, Stride<_32, _1>>,"
        "cute::tuple<shard::S<0>, shard::Dynamic>, Warps>{}));",
        "Dynamic shard attribute must be resolved before local()",
    ),
    "unfactored split": (
        _MEMORY + "local(make_shard_tensor(t, row, ShardLayout<Layout<Shape<Int<128>>, Stride<_1>>,"
        "cute::tuple<shard::S<0>, shard::B>, Warps>{}));",
        "factor mode k",
    ),
    "two axes on one mode": (
        _MEMORY + "local(make_shard_tensor(t, row, ShardLayout<Layout<Shape<Int<128>>, Stride<_1>>,"
        "cute::tuple<shard::S<0>, shard::S<0>>, Warps>{}));",
        "factor mode k",
    ),
    "one attribute too few": (
        _MEMORY + "local(make_shard_tensor(t, row, ShardLayout<Layout<Shape<Int<128>>, Stride<_1>>,"
        "cute::tuple<shard::B>, Warps>{}));",
        "one attribute per mesh axis",
    ),
    "reduction over warps without a workspace": (
        "ops::reduce<op::sum, Axes<0>>(x, y);",
        "needs a shared-memory workspace",
    ),
    "workspace too small": (
        "using Two = Layout<Shape<_2>, Stride<_1>>;"
        "auto ws = shared_tensor<float>(cta_shared(), Two{}, Two{});"
        "ops::reduce<op::sum, Axes<0>>(x, y, ws);",
        "the workspace is smaller than reduce_workspace_bytes()",
    ),
    "reduction over CTAs": (
        "auto z = register_tensor<float>(Layout<Shape<Int<256>>, Stride<_1>>{}, ShardLayout<Layout<Shape<_2, Int<128>>,"
        "Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::S<1>>, Ctas>{}); ops::reduce<op::sum, Axes<0>>(z, y);",
        "a reduced axis is split over CTAs",
    ),
    "search over warps without a workspace": (
        "auto at = register_tensor<int64_t>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});"
        "ops::reduce<op::argmax, Axes<0>>(x, at);",
        "needs a shared-memory workspace",
    ),
    "workspace for values without their places": (
        "using Four = Layout<Shape<_4>, Stride<_1>>; auto ws = shared_tensor<float>(cta_shared(), Four{}, Four{});"
        "auto at = register_tensor<int64_t>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});"
        "ops::reduce<op::sum, Axes<0>>(x, y, ws); ops::reduce<op::argmin, Axes<0>>(x, at, ws);",
        "the workspace is smaller than reduce_workspace_bytes()",
    ),
    "search over CTAs": (
        "auto z = register_tensor<float>(Layout<Shape<Int<256>>, Stride<_1>>{}, ShardLayout<Layout<Shape<_2, Int<128>>,"
        "Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::S<1>>, Ctas>{});"
        "auto at = register_tensor<int64_t>(Layout<Shape<_1>, Stride<_1>>{}, Whole{});"
        "ops::reduce<op::argmax, Axes<0>>(z, at);",
        "a reduced axis is split over CTAs",
    ),
    "search of two axes": (
        "float v[6]; int64_t at[1]; auto t = make_tensor(&v[0], Layout<Shape<_2, _3>, Stride<_3, _1>>{});"
        "ops::reduce<op::argmax, Axes<0, 1>>(t, make_tensor(&at[0], Layout<Shape<_1>, Stride<_1>>{}));",
        "argmax and argmin search exactly one axis",
    ),
    "places that are no integers": (
        "auto ws = shared_tensor<float>(cta_shared(), row, row); ops::reduce<op::argmin, Axes<0>>(x, y, ws);",
        "the elements of dst must be i32 or i64",
    ),
    "scan for places": ("ops::scan<op::argmax, 0>(x, x, _0{});", "the op is sum, prod, max or min"),
    "mesh that does not fill its level": (
        "Mesh<Layout<Shape<_2, _32>, Stride<_32, _1>>, TopologyScope::thread>{}.local_index();",
        "must multiply to its size",
    ),
    "mesh whose strides collide": (
        "Mesh<Layout<Shape<_4, _32>, Stride<_16, _1>>, TopologyScope::thread>{}.local_index();",
        "must enumerate its ids",
    ),
    "named barrier of a part of a warp": ("ops::sync<SyncKind::named, 0, 40, 0u, 1>();", "multiples of 32"),
    "named barrier without an id": ("ops::sync<SyncKind::named, 0, 64>();", "an id from 1 to 15"),
    "named barrier with an id beyond the hardware's": ("ops::sync<SyncKind::named, 0, 64, 0u, 16>();", "from 1 to 15"),
    "named barrier from the middle of a warp": ("ops::sync<SyncKind::named, 16, 64, 0u, 1>();", "multiples of 32"),
    "partition of a tensor without a distribution": (
        _MEMORY + "shard_partition(t);",
        "the tensor's layout must be a ShardLayout",
    ),
    "partition of an unfactored split": (
        "shard_partition(make_tensor(make_gmem_ptr(static_cast<float*>(nullptr)), ShardLayout<Layout<Shape<Int<128>>,"
        "Stride<_1>>, cute::tuple<shard::S<0>, shard::B>, Warps>{}));",
        "factor mode k",
    ),
    "named barrier beyond the CTA": ("ops::sync<SyncKind::named, 96, 64, 0u, 1>();", "exceed the CTA"),
    "view of a temporary": (
        "view(register_tensor<float>(row, PerThread{}), row, PerThread{});",
        "the register tensor is a temporary",
    ),
    "power of integers": (
        "auto i = register_tensor<int>(row, PerThread{}); ops::binary(op::pow{}, i, i, i);",
        "integers have no powers for negative exponents",
    ),
    "operands of different shape": ("ops::binary(op::add{}, x, x, register_tensor<float>(Layout<Shape<Int<256>>,"
        "Stride<_1>>{}, ShardLayout<Layout<Shape<_4, _32, _2>, Stride<_0, _0, _1>>, cute::tuple<shard::S<0>,"
        "shard::S<1>>, Warps>{}));", "must have equal local shapes"),
    "operands of different type": (
        "auto i = register_tensor<int>(row, PerThread{}); ops::binary(op::add{}, x, i, x);",
        "must have one element type",
    ),
    "whole shared tile as a destination": (
        "auto s = shared_tensor<float>(cta_shared(), row, row); ops::fill(s, 0.f);",
        "has no owner per element",
    ),
    "slice of a part of a warp": ("(void)ThreadSlice<0, 40>::count;", "one instance, or whole warps"),
    "slice that its mesh does not fill": (
        "MeshSlice<ThreadSlice<64, 64>, Layout<Shape<_32>, Stride<_1>>>{}.local_index();",
        "must multiply to the slice's size",
    ),
    "reduction over the warps of a slice": (
        _HALF + "auto one = register_tensor<float>(Layout<Shape<_1>, Stride<_1>>{},"
        "ShardLayout<Layout<Shape<_1>, Stride<_0>>, cute::tuple<shard::B, shard::B>, Half>{});"
        "auto ws = shared_tensor<float>(cta_shared(), row, row); ops::reduce<op::sum, Axes<0>>(z, one, ws);",
        "within a slice a reduction stays in its warp",
    ),
    "pipeline of another cluster than the map's": (
        "using Square = Layout<Shape<_64, _64>, Stride<_64, _1>>;"
        "auto s = shared_tensor<float>(cta_shared(), Square{}, Square{});"
        "TensorMap made; auto map = make_tile_map<Shape<_64, _64>, Swizzle<0, 4, 3>, 2>(global_tensor<float, true>("
        "GlobalArg<2>{}, make_shape(int64_t(64), int64_t(64))), made);"
        "Pipeline<2, ThreadSlice<0, 32>, ThreadSlice<32, 32>> pipe(cta_shared());"
        "ops::tile_load(map, make_coord(0, 0), s, pipe);",
        "those of the pipeline's cluster",
    ),
    "fragment loaded by producers": (
        "auto map = make_tile_map<Shape<Int<128>>>(global_tensor<float, true>(GlobalArg<1>{}, make_shape(int64_t(8))));"
        "Pipeline<2, ThreadSlice<0, 32>, ThreadSlice<32, 32>> pipe(cta_shared());"
        "ops::tile_load(map, make_coord(0), x, pipe);",
        "producers load whole shared tiles",
    ),
    "swizzle that no bulk copy has": (
        "TensorMap made; make_tile_map<Shape<_64>, Swizzle<3, 3, 3>>("
        "global_tensor<float, true>(GlobalArg<1>{}, make_shape(int64_t(64))), made);",
        "a swizzle of bulk copies is",
    ),
    "gather from what is no window": (
        _MEMORY + "auto i = register_tensor<int>(row, PerThread{}); ops::gather(t, i, x, _0{});",
        "the source must be a window",
    ),
    "indices that are no integers": (
        _MEMORY + "ops::gather(make_window<Axes<0>>(t, make_coord(0), make_shape(128)), x, x, _0{});",
        "indices must be integers",
    ),
    "additions to what is no window": (
        "auto i = register_tensor<int>(row, PerThread{}); ops::scatter_add(i, x, x, _0{});",
        "the destination must be a window",
    ),
    "scan over warps without a workspace": ("ops::scan<op::sum, 0>(x, x, _0{});", "needs a shared-memory workspace"),
    "scan of an op without an order": ("ops::scan<op::mean, 0>(x, x, _0{});", "the op is sum, prod, max or min"),
    "scan over CTAs": (
        "auto z = register_tensor<float>(Layout<Shape<Int<256>>, Stride<_1>>{}, ShardLayout<Layout<Shape<_2, Int<128>>,"
        "Stride<_0, _0>>, cute::tuple<shard::S<0>, shard::S<1>>, Ctas>{}); ops::scan<op::sum, 0>(z, z, _0{});",
        "the axis is split over CTAs",
    ),
    "transpose with too small a workspace": (
        "using Two = Layout<Shape<_2>, Stride<_1>>; auto ws = shared_tensor<float>(cta_shared(), Two{}, Two{});"
        "ops::transpose<Permutation<0>>(x, x, ws);",
        "the workspace is smaller than transpose_workspace_bytes()",
    ),
    "scan over the warps of a slice": (
        _HALF + "auto ws = shared_tensor<float>(cta_shared(), row, row); ops::scan<op::sum, 0>(z, z, _0{}, ws);",
        "within a slice a scan stays in its warp",
    ),
    "transpose by a slice": (
        _HALF + "auto ws = shared_tensor<float>(cta_shared(), row, row); ops::transpose<Permutation<0>>(z, z, ws);",
        "all instances of the CTA take part, and a slice has only some of them",
    ),
    "asynchronous copy of a raw pointer": (
        "ops::copy_async(static_cast<float*>(nullptr), x);",
        "ops::copy_async: a raw pointer has no extents and no residency",
    ),
    "asynchronous copy under Dynamic": (
        _MEMORY + "auto s = shared_tensor<float>(cta_shared(), row, row);"
        "using Open = ShardLayout<Layout<Shape<_4, _32>, Stride<_32, _1>>, cute::tuple<shard::S<0>, shard::Dynamic>,"
        "Warps>; ops::copy_async(make_shard_tensor(t, row, Open{}), view(s, row, Open{}));",
        "Dynamic shard attribute must be resolved before local()",
    ),
    "asynchronous copy into a whole tile": (
        _MEMORY + "auto s = shared_tensor<float>(cta_shared(), row, row); ops::copy_async(t, s);",
        "ops::copy_async: a whole shared tile has no owner per element",
    ),
    "asynchronous copy of another type": (
        _MEMORY + "auto s = shared_tensor<int>(cta_shared(), row, row);"
        "ops::copy_async(view(t, row, InMemory{}), view(s, row, InMemory{}));",
        "ops::copy_async: source and destination types differ",
    ),
    "asynchronous copy of another shape": (
        _MEMORY + "auto s = shared_tensor<float>(cta_shared(), row, row);"
        "ops::copy_async(view(t, row, InMemory{}), view(s, Layout<Shape<Int<64>>, Stride<_1>>{}, ShardLayout<Layout<"
        "Shape<_4, Int<16>>, Stride<Int<16>, _1>>, cute::tuple<shard::S<0>, shard::B>, Warps>{}));",
        "must have equal local shapes",
    ),
    "wait for fewer groups than none": ("ops::cp_async_wait<-1>();", "must not be negative"),
    "first elements of a raw pointer": (
        "ops::copy_n<1>(static_cast<float*>(nullptr), x);",
        "ops::copy_n: a raw pointer has no extents and no residency",
    ),
    "more first elements than there are": ("ops::copy_n<2>(x, x);", "an instance holds fewer elements than are to be"),
    "first elements of a whole tile": (
        "auto s = shared_tensor<float>(cta_shared(), row, row); ops::copy_n<1>(x, s);",
        "ops::copy_n: a whole shared tile has no owner per element",
    ),
    "registers that instances share": (
        "register_tensor<float>(row, InMemory{});",
        "split modes have stride 0, because each instance has its own registers",
    ),
    "order of registers": (
        "ops::topk<true>(x, x, x, _0{});",
        "operands are windows",
    ),
    "mesh of a nested layout": (
        "Mesh<Layout<Shape<Shape<_4, _32>>, Stride<Stride<_32, _1>>>, TopologyScope::thread>{}.local_index();",
        "the layout is flat, with one mode per mesh axis",
    ),
    "axis that a reduced tensor lacks": ("ops::reduce<op::sum, Axes<1>>(x, y);", "the tensor has no such axis"),
    "axis that a scanned tensor lacks": ("ops::scan<op::sum, 1>(x, x, _1{});", "the tensor has no such axis"),
    "axis that a counted tensor lacks": ("ops::iota(x, _1{}, 0, 1);", "dst has no such axis"),
    "reduction by an op that combines nothing": ("ops::reduce<op::exp, Axes<0>>(x, y);", "the op is sum, mean, prod"),
    "mean of integers": (
        "auto i = register_tensor<int>(row, PerThread{}); auto ws = shared_tensor<float>(cta_shared(), row, row);"
        "ops::reduce<op::mean, Axes<0>>(i, y, ws);",
        "the mean of integers is no integer",
    ),
    "raw pointer as a workspace": (
        "float ws[4]; ops::reduce<op::sum, Axes<0>>(x, y, &ws[0]);",
        "the workspace must be a shared_tensor or a CuTe tensor in shared memory",
    ),
    "raw pointer as an operand": ("float* p = x.data(); ops::clamp(p, 0, 1, x);", "ops: a raw pointer has no extents"),
    "copy to a raw pointer": ("tilefoundry::copy(x, x.data());", "copy: a raw pointer has no extents"),
    "destination of const elements": (
        "ops::fill(view(make_tensor(make_gmem_ptr(static_cast<float const*>(nullptr)), row), row, InMemory{}), 0);",
        "the elements of the destination are const",
    ),
    "destination of an extent that the run gives": (
        "ops::fill(make_tensor(x.data(), make_layout(make_shape(int(x.data()[0])))), 0);",
        "part of the destination has a static shape",
    ),
    "choice by what is no bool": ("ops::where(x, x, x, x);", "the condition is a bool tensor or scalar"),
    "named barrier before the CTA": ("ops::sync<SyncKind::named, -32, 64, 0u, 1>();", "multiples of 32"),
    "barrier of the CTA for a part of it": ("ops::sync<SyncKind::cta, 0, 64>();", "all instances of the CTA meet"),
    "slice that the CTA lacks": (
        "Pipeline<2, ThreadSlice<0, 32>, ThreadSlice<32, 128>> pipe(cta_shared());",
        "the producers or consumers exceed the CTA",
    ),
    "start of another rank": (
        "auto s = shared_tensor<float>(cta_shared(), row, row);"
        "auto map = make_tile_map<Shape<Int<128>>>(global_tensor<float, true>(GlobalArg<1>{}, make_shape(int64_t(8))));"
        "ops::tile_load(map, make_coord(0, 0), s);",
        "one start coordinate per axis",
    ),
    "mesh of a slice of a nested layout": (
        "MeshSlice<ThreadSlice<0, 32>, Layout<Shape<Shape<_4, _8>>, Stride<Stride<_8, _1>>>>{}.local_index();",
        "MeshSlice: the layout is flat, with one mode per mesh axis",
    ),
    "reduction of a raw pointer": (
        "float v[4]; ops::reduce<op::sum, Axes<0>>(&v[0], y);",
        "ops: an operand is a ShardTensor or a CuTe tensor",
    ),
    "window from another rank": (
        _MEMORY + "make_window<Axes<0>>(t, make_coord(0, 0), make_shape(4));",
        "one start coordinate per axis of the tensor",
    ),
    "window of other extents": (
        _MEMORY + "make_window<Axes<0>>(t, make_coord(0), make_shape(4, 4));",
        "one extent per axis of the window",
    ),
    "box of another shape": (
        "auto s = shared_tensor<float>(cta_shared(), row, row);"
        "auto map = make_tile_map<Shape<_64>>(global_tensor<float, true>(GlobalArg<1>{}, make_shape(int64_t(64))));"
        "ops::tile_load(map, make_coord(0), s);",
        "the box and the tile must have the same extents",
    ),
}  # fmt: skip
