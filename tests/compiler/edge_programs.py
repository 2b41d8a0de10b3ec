# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the kernel language: their names and annotations mean nothing to Python's type system.
"""Kernels whose calls need more than their arguments: intermediate tensors, barriers of the grid, several launches."""

from __future__ import annotations

from tilefoundry import DType, TensorType, func, module, prim_func
from tilefoundry.dsl import (
    BinaryKind,
    Broadcast,
    DimVar,
    DimVarRangePat,
    Layout,
    Mesh,
    ReduceKind,
    ShardLayout,
    T,
    Tensor,
    Topology,
    ceildiv,
    launch,
    tf,
    tile,
)
from tilefoundry.ir import Module
from tilefoundry.ir.types import StorageKind
from tilefoundry.target import CpuTarget, CudaTarget

N = DimVar("N", 1, 1 << 20)
CUDA = CudaTarget("nvidia.h200_sxm")
CTAS = Topology("cta", 8)
LANES = Topology("thread", 32)


@prim_func(target=CUDA)
def shares(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """Each element as a share of the sum of all: CTAs sum rows, meet, and all of them add up all sums."""
    sums = T.alloc_tensor(Tensor[(8, 32), "f32"])
    with Mesh((CTAS,), (8,), ("c",)) as c, Mesh((LANES,), (32,), ("l",)) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        s = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        T.fill(s, 0.0)
        for row in range(c.c, N, 8):
            T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.binary(s, r, s, kind=BinaryKind.ADD)
        T.copy(s, T.tensor_view(sums, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
        T.sync(c)
        every = T.alloc_tensor(Tensor[(8, 32), "f32", (8, 32 @ m.l), "rmem"])
        T.copy(T.tensor_view(sums, layout=(8, 32 @ m.l)), every)
        held = ShardLayout(Layout((1, 1), (0, 0)), (Broadcast(),), m)
        total = T.alloc_tensor(TensorType((1, 1), DType.f32, held, StorageKind.RMEM))
        T.reduce(every, total, axes=(0, 1), kind=ReduceKind.SUM)
        whole = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        for row in range(c.c, N, 8):
            T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.binary(r, total, whole, kind=BinaryKind.DIV)
            T.copy(whole, T.tensor_view(o, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA, inplace={"o": "a"})
def smoothed(a: Tensor[(8, 32), "f32"], times: Tensor[(), "i32"], o: Tensor[(8, 32), "f32"]):
    """Each row plus the next one, around the end, `times` times: two barriers of the grid in each turn of a loop."""
    with Mesh((CTAS,), (8,), ("c",)) as c, Mesh((LANES,), (32,), ("l",)) as m:
        mine = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        next = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        n = T.alloc_tensor(Tensor[(), "i32", "rmem"])
        T.fill(n, 0)
        while n < times:
            T.copy(T.tensor_view(o, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)), mine)
            T.copy(T.tensor_view(o, (c.c + 1) % 8, 0, shape=(1, 32), layout=(1, 32 @ m.l)), next)
            T.binary(mine, next, mine, kind=BinaryKind.ADD)
            T.sync(c)
            T.copy(mine, T.tensor_view(o, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
            T.sync(c)
            T.binary(n, 1, n, kind=BinaryKind.ADD)


@prim_func(target=CUDA)
def doubled(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """2 * a, a CTA for each row."""
    with Mesh((LANES,), (32,), ("l",)) as m:
        row = T.program_id(level="cta")
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.binary(r, r, r, kind=BinaryKind.ADD)
        T.copy(r, T.tensor_view(o, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def added(a: Tensor[(N, 32), "f32"], b: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """a + b, four rows for each CTA of four warps."""
    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        s = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        for row in range(T.program_id(level="cta") * 4 + m.w, N, T.program_dim(level="cta") * 4):
            T.copy(T.tensor_view(a, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
            T.copy(T.tensor_view(b, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)), s)
            T.binary(r, s, r, kind=BinaryKind.ADD)
            T.copy(r, T.tensor_view(o, row, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CpuTarget(), output_count=2)
def chain(a: Tensor[(N, 32), "f32"], four: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """4a, and the share of 5a that each element has: four kernels, two tensors between them."""
    two = T.alloc_tensor(Tensor[(N, 32), "f32"])
    five = T.alloc_tensor(Tensor[(N, 32), "f32"])
    launch(doubled, a, two, grid=a.shape[0], block=32)
    launch(doubled, two, four, grid=a.shape[0], block=32)
    launch(added, four, a, five, grid=ceildiv(a.shape[0], 4), block=128)
    launch(shares, five, o, grid=8, block=32)


@prim_func(target=CpuTarget())
def eightfold(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """8a: one kernel, launched on one tensor twice."""
    x = T.alloc_tensor(Tensor[(N, 32), "f32"])
    launch(doubled, a, x, grid=a.shape[0], block=32)
    y = T.alloc_tensor(Tensor[(N, 32), "f32"])
    launch(added, x, x, y, grid=ceildiv(a.shape[0], 4), block=128)
    launch(added, y, y, o, grid=ceildiv(a.shape[0], 4), block=128)


@prim_func(target=CUDA)
def crowd(o: Tensor[(N, 32), "f32"]):
    """As many CTAs as rows, all of which meet."""
    with Mesh((LANES,), (32,), ("l",)) as m, Mesh((Topology("cta", N),), (N,), ("c",)) as c:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        T.fill(r, 1.0)
        T.sync(c)
        T.copy(r, T.tensor_view(o, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


@prim_func(target=CUDA)
def turned(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """The rows in reverse order, by way of a tensor of the kernel's own: a CTA for each row."""
    kept = T.alloc_tensor(Tensor[(N, 32), "f32"])
    with Mesh((LANES,), (32,), ("l",)) as m, Mesh((Topology("cta", N),), (N,), ("c",)) as c:
        r = T.alloc_tensor(Tensor[(1, 32), "f32", (1, 32 @ m.l), "rmem"])
        T.copy(T.tensor_view(a, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(kept, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)))
        T.sync(c)
        T.copy(T.tensor_view(kept, a.shape[0] - 1 - c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)), r)
        T.copy(r, T.tensor_view(o, c.c, 0, shape=(1, 32), layout=(1, 32 @ m.l)))


ROWS = DimVar("ROWS", 1, 1 << 16)


@prim_func(target=CpuTarget())
def turned_host(x: Tensor[(ROWS, 32), "f32"], y: Tensor[(ROWS, 32), "f32"]):
    """The host calls the extent by another name than the kernel."""
    launch(turned, x, y, grid=x.shape[0], block=32)


@prim_func(target=CpuTarget())
def crowd_host(o: Tensor[(N, 32), "f32"]):
    launch(crowd, o, grid=o.shape[0], block=32)


M = DimVar("M", 0, 1 << 20)
K = DimVar("K", 0, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="axpy", target=CUDA, topologies=(Topology("cta", G), Topology("thread", 128)))
class Axpy:
    """alpha * x + y of matrices of any extents and strides."""

    @func
    def axpy(alpha: Tensor[(), "f32"], x: Tensor[(M, K), "f32"], y: Tensor[(M, K), "f32"]) -> Tensor[(M, K), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as c, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            out = tf.zeros(Tensor[(M, K), "f32"])
            for i in tile(M, 4) @ c.c:
                for j in tile(K, 32) @ c.c:
                    row = tf.reshard(x[i, j], (4 @ t.w, 32 @ t.l), "rmem")
                    other = tf.reshard(y[i, j], (4 @ t.w, 32 @ t.l), "rmem")
                    out = tf.insert_slice(out, row * alpha + other, (i, j))
            return out


def filled(dtype: str) -> Module:
    """A row of a scalar of one element type."""
    DT = dtype

    @module(entry="filled", target=CUDA, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Filled:
        @func
        def filled(x: Tensor[(1, 32), DT], s: Tensor[(), DT]) -> Tensor[(1, 32), DT]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                zero = tf.reshard(x, (1, 32 @ t.t), "rmem")
                return tf.reshard(zero + s, (1, 32), "gmem")

    return Filled


@module(entry="halves", target=CUDA, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Halves:
    """Two outputs: twice the input, and its square; extents follow from the input's."""

    @func
    def halves(x: Tensor[(2 * M, 32), "f32"]) -> (Tensor[(2 * M, 32), "f32"], Tensor[(2 * M, 32), "f32"]):
        with Mesh(("thread",), (32,), ("t",)) as t:
            twice, square = tf.zeros(Tensor[(2 * M, 32), "f32"]), tf.zeros(Tensor[(2 * M, 32), "f32"])
            for i in tile(2 * M, 2):
                r = tf.reshard(x[i, :], (2, 32 @ t.t), "rmem")
                twice = tf.insert_slice(twice, r + r, (i, 0))
                square = tf.insert_slice(square, r * r, (i, 0))
            return (twice, square)


L = DimVar("L", 1, 30)


@module(entry="scaled", target=CUDA, topologies=(Topology("cta", G), Topology("thread", 32)))
class Scaled:
    """A prototype: rows of short matrices are doubled, of long ones negated."""

    @func
    def scaled(x: Tensor[(L, 32), "f32"]) -> Tensor[(L, 32), "f32"]:
        pass

    @scaled.specialize(DimVarRangePat("L", 1, 8))
    def short(x: Tensor[(L, 32), "f32"]) -> Tensor[(L, 32), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as c, Mesh(("thread",), (32,), ("t",)) as t:
            out = tf.zeros(Tensor[(L, 32), "f32"])
            for i in tile(L, 1) @ c.c:
                row = tf.reshard(x[i, :], (1, 32 @ t.t), "rmem")
                out = tf.insert_slice(out, row + row, (i, 0))
            return out

    @scaled.specialize(DimVarRangePat("L", 8, 30))
    def long(x: Tensor[(L, 32), "f32"]) -> Tensor[(L, 32), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as c, Mesh(("thread",), (32,), ("t",)) as t:
            out = tf.zeros(Tensor[(L, 32), "f32"])
            for i in tile(L, 4) @ c.c:
                row = tf.reshard(x[i, :], (4, 32 @ t.t), "rmem")
                out = tf.insert_slice(out, -row, (i, 0))
            return out


def widened(dtype: str) -> Module:
    """A row of one element type in f32."""
    DT = dtype

    @module(entry="widened", target=CUDA, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Widened:
        @func
        def widened(x: Tensor[(1, 32), DT]) -> Tensor[(1, 32), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                return tf.reshard(tf.cast(tf.reshard(x, (1, 32 @ t.t), "rmem"), "f32"), (1, 32), "gmem")

    return Widened


@module(entry="chosen", target=CUDA, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Chosen:
    """x, or -x where the scalar is false: as a scalar, and under axes, which are moved."""

    @func
    def chosen(keep: Tensor[(), "bool"], x: Tensor[(1, 32), "f32"]) -> Tensor[(1, 32), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            r = tf.reshard(x, (1, 32 @ t.t), "rmem")
            row = tf.flip(tf.transpose(tf.expand(tf.reshape(keep, (1, 1)), (32, 1)), (1, 0)), (1,))
            both = tf.logical_and(tf.reshard(row, (1, 32 @ t.t), "rmem"), keep)
            return tf.reshard(tf.where(both, r, -r), (1, 32), "gmem")


@prim_func(target=CpuTarget())
def tall(a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]):
    """2 * a, on a grid along its second axis."""
    launch(doubled, a, o, grid=(1, a.shape[0], 1), block=(1, 32, 1))
