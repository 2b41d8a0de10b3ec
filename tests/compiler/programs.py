# mypy: ignore-errors
# ruff: noqa: F821, B007
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Small placed programs for the tests of the compiler."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ConstTensor, ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
M = DimVar("M", 1, 1 << 20)
N = DimVar("N", 1, 1 << 20)
L = DimVar("L", 0, 1 << 20)  # may be empty
G = DimVar("G", 1, 1 << 20)


@module(entry="scale_rows", target=TARGET, topologies=(Topology("cta", 64),))
class ScaleRows:
    """One CTA of one thread squares each row: no loop, no barrier."""

    @func
    def scale_rows(x: Tensor[(64, 256), "f32"]) -> Tensor[(64, 256), "f32"]:
        with Mesh(("cta",), (64,), ("r",)) as cta:
            reg = tf.reshard(x, (64 @ cta.r, 256), "rmem")
            return tf.reshard(reg * reg, (64 @ cta.r, 256), "gmem")


@module(entry="row_mean", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 256)))
class RowMean:
    """The mean of one row over eight warps: a reduction through shared memory."""

    @func
    def row_mean(x: Tensor[(1, 2048), "f32"]) -> Tensor[(1, 1), "f32"]:
        with Mesh(("thread",), (8, 32), ("w", "l")) as m:
            r = tf.reshard(x, (1, 2048 @ (m.w, m.l)), "rmem")
            return tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.MEAN), (1, 1), "gmem")


def row_softmax(columns: int, dtype: str, rows: int = 4) -> Module:
    """Softmax of rows, four to a tile, a warp for each."""
    N, R, DT = columns, rows, dtype

    @module(entry="softmax", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32 * R)))
    class Softmax:
        @func
        def softmax(x: Tensor[(M, N), DT]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (R, 32), ("w", "l")) as t:
                y = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, R) @ cta.c:
                    r = tf.cast(tf.reshard(x[i, :], (R @ t.w, 32 @ t.l, N // 32), "rmem"), "f32")
                    e = tf.exp(r - tf.reduce(r, (-1,), True, ReduceKind.MAX))
                    y = tf.insert_slice(y, tf.cast(e / tf.reduce(e, (-1,), True, ReduceKind.SUM), DT), (i, 0))
            return y

    return Softmax


def matmul(k: int, dtype: str) -> Module:
    """A tile of 32 x 32 for each CTA, accumulated over K in steps of 16."""
    N, K, DT = 96, k, dtype

    @module(entry="matmul", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class MatMul:
        @func
        def matmul(a: Tensor[(M, K), DT], b: Tensor[(K, N), DT]) -> Tensor[(M, N), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 8, 4), ("w", "g", "t")) as t:
                c = tf.zeros(Tensor[(M, N), DT])
                for i in tile(M, 32) @ cta.c:
                    for j in tile(N, 32) @ cta.c:
                        acc = tf.reshard(
                            tf.zeros(Tensor[(32, 32), "f32"]), (2 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem"
                        )
                        for k in tile(K, 16):
                            at = tf.reshard(a[i, k], (32, 16), "smem")
                            bt = tf.reshard(b[k, j], (16, 32), "smem")
                            p = tf.matmul(at, bt, out_dtype="f32")
                            acc = acc + tf.reshard(p, (2 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
                        c = tf.insert_slice(c, tf.cast(acc, DT), (i, j))
            return c

    return MatMul


def swap(rounds: int) -> Module:
    """Carries that exchange places: each round needs both old values."""
    N = rounds

    @module(entry="swap", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Swap:
        @func
        def swap(
            x: Tensor[(1, 64), "f32"], y: Tensor[(1, 64), "f32"]
        ) -> tuple[Tensor[(1, 64), "f32"], Tensor[(1, 64), "f32"]]:
            with Mesh(("thread",), (32,), ("l",)) as t:
                a = tf.reshard(x, (1, 32 @ t.l, 2), "rmem")
                b = tf.reshard(y, (1, 32 @ t.l, 2), "rmem")
                for i in range(0, N, 1):
                    a, b = b, a + b
                return tf.reshard(a, (1, 32 @ t.l, 2), "gmem"), tf.reshard(b, (1, 32 @ t.l, 2), "gmem")

    return Swap


def row_sums(warps: int) -> Module:
    """Sums of rows of 512, by `warps` warps a row, through shared memory."""
    W = warps

    @module(entry="sums", target=TARGET, topologies=(Topology("cta", 2), Topology("thread", 32 * W)))
    class Sums:
        @func
        def sums(x: Tensor[(M, 512), "f32"]) -> Tensor[(M, 1), "f32"]:
            with Mesh(("cta",), (2,), ("c",)) as cta, Mesh(("thread",), (W, 32), ("w", "l")) as t:
                out = tf.zeros(Tensor[(M, 1), "f32"])
                for i in tile(M, 4) @ cta.c:
                    staged = tf.reshard(x[i], (4, 512), "smem")
                    row = tf.reshard(staged, (4, W @ t.w, 32 @ t.l, 512 // (32 * W)), "rmem")
                    out = tf.insert_slice(out, tf.reduce(row, (-1,), True, ReduceKind.SUM), (i, 0))
            return out

    return Sums


@module(entry="two", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
class TwoOutputs:
    """Rows scaled by a scalar and by weights, and their sums: two outputs of one loop."""

    @func
    def two(
        x: Tensor[(M, 128), "f32"], alpha: Tensor[(), "f32"], w: ConstTensor[(128,), "f32"]
    ) -> tuple[Tensor[(M, 128), "f32"], Tensor[(M, 1), "f32"]]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 32), ("w", "l")) as t:
            y = tf.zeros(Tensor[(M, 128), "f32"])
            z = tf.zeros(Tensor[(M, 1), "f32"])
            weights = tf.reshard(w, (32 @ t.l, 4), "rmem")
            for i in tile(M, 2) @ cta.c:
                r = tf.reshard(x[i], (2 @ t.w, 32 @ t.l, 4), "rmem") * alpha * weights
                y = tf.insert_slice(y, r, (i, 0))
                z = tf.insert_slice(z, tf.reduce(r, (-1,), True, ReduceKind.SUM), (i, 0))
        return y, z


@module(entry="grid", target=TARGET, topologies=(Topology("cta", 6), Topology("thread", 32)))
class Grid:
    """Tiles spread over the two axes of a grid of 2 x 3 CTAs."""

    @func
    def grid(x: Tensor[(M, N), "f16"]) -> Tensor[(M, N), "f16"]:
        with Mesh(("cta",), (2, 3), ("a", "b")) as cta, Mesh(("thread",), (4, 8), ("p", "q")) as t:
            y = tf.zeros(Tensor[(M, N), "f16"])
            for i in tile(M, 8) @ cta.a:
                for j in tile(N, 8) @ cta.b:
                    r = tf.reshard(x[i, j], (4 @ t.p, 2, 8 @ t.q), "rmem")
                    y = tf.insert_slice(y, tf.abs(r) + 1.5, (i, j))
        return y


@module(entry="integers", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Integers:
    """Floor division and modulus of integers of both signs, chosen by a comparison."""

    @func
    def integers(x: Tensor[(64,), "i32"], y: Tensor[(64,), "i64"]) -> Tensor[(64,), "i32"]:
        with Mesh(("thread",), (32,), ("l",)) as t:
            a = tf.reshard(x, (32 @ t.l, 2), "rmem")
            b = tf.cast(tf.reshard(y, (32 @ t.l, 2), "rmem"), "i32")
            odd = (a % 2 == 1) or not (a < b)
            return tf.reshard(tf.where(a < b and odd, a // 3, b % 5), (32 @ t.l, 2), "gmem")


@module(entry="column_max", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 128)))
class ColumnMax:
    """A reduction along the axis that is spread over warps, while the other one is kept."""

    @func
    def column_max(x: Tensor[(64, 16), "bf16"]) -> Tensor[(1, 16), "bf16"]:
        with Mesh(("thread",), (16, 8), ("r", "c")) as t:
            a = tf.reshard(x, (16 @ t.r, 4, 8 @ t.c, 2), "rmem")
            return tf.reshard(tf.reduce(a, (0,), True, ReduceKind.MAX), (1, 8 @ t.c, 2), "gmem")


@module(entry="row_sums_in_tiles", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
class RowSumsInTiles:
    """A pipelined loop over the columns inside a loop over the rows; both extents are symbolic."""

    @func
    def row_sums_in_tiles(x: Tensor[(M, N), "f32"]) -> Tensor[(M, 1), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.zeros(Tensor[(M, 1), "f32"])
            for i in tile(M, 2) @ cta.c:
                s = tf.reshard(tf.zeros(Tensor[(2, 64), "f32"]), (2, 32 @ t.t, 2), "rmem")
                for j in tile(N, 64):
                    staged = tf.reshard(x[i, j], (2, 64), "smem")
                    s = s + tf.reshard(staged, (2, 32 @ t.t, 2), "rmem")
                y = tf.insert_slice(y, tf.reduce(s, (-1,), True, ReduceKind.SUM), (i, 0))
        return y


@module(entry="names", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Names:
    """Names that C++, its library or the generated text use themselves."""

    @func
    def names(
        Vector: Tensor[(64,), "f32"],
        INT_MAX: Tensor[(64,), "f32"],
        new: Tensor[(64,), "f32"],
        a__b: Tensor[(64,), "f32"],
    ) -> Tensor[(64,), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as float:
            args = tf.reshard(Vector, (32 @ float.t, 2), "rmem")
            Shard0 = tf.reshard(INT_MAX, (32 @ float.t, 2), "rmem")
            Int = tf.reshard(new, (32 @ float.t, 2), "rmem")
            ops = tf.reshard(a__b, (32 @ float.t, 2), "rmem")
            return tf.reshard(args + Shard0 + Int + ops, (32 @ float.t, 2), "gmem")


@module(entry="triangle", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
class Triangle:
    """Each row the sum of itself and all before it: a loop whose extent is the row of the loop around it."""

    @func
    def triangle(x: Tensor[(M, 32), "f32"]) -> Tensor[(M, 32), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.zeros(Tensor[(M, 32), "f32"])
            for i in range(M) @ cta.c:
                s = tf.reshard(tf.zeros(Tensor[(32,), "f32"]), (32 @ t.t,), "rmem")
                for j in range(i + 1):
                    s = s + tf.reshard(x[j], (32 @ t.t,), "rmem")
                y = tf.insert_slice(y, s, (i, 0))
        return y


@module(entry="scalars", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Scalars:
    """Arithmetic on rank-0 parameters, beside and apart from tensors."""

    @func
    def scalars(
        x: Tensor[(64,), "f32"], s: Tensor[(), "f32"], k: Tensor[(), "i32"], h: Tensor[(), "bf16"]
    ) -> Tensor[(64,), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            r = tf.reshard(x, (32 @ t.t, 2), "rmem")
            r = r * (s + 1.5) + tf.exp(-s) * tf.cast(k // 3 + 1, "f32") + tf.cast(h * h, "f32")
            return tf.reshard(tf.where(s < 1.0, r, tf.where(s < 3.0, s, 7.0)), (32 @ t.t, 2), "gmem")


@module(entry="siblings", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
class Siblings:
    """A result of M rows by a spread loop, and one that does not depend on M."""

    @func
    def siblings(
        x: Tensor[(L, 64), "f32"], w: Tensor[(1, 64), "f32"]
    ) -> tuple[Tensor[(L, 64), "f32"], Tensor[(1, 64), "f32"]]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.zeros(Tensor[(L, 64), "f32"])
            for i in range(L) @ cta.c:
                y = tf.insert_slice(y, tf.reshard(x[i], (32 @ t.t, 2), "rmem"), (i, 0))
            r = tf.reshard(w, (1, 32 @ t.t, 2), "rmem")
            return y, tf.reshard(r + r, (1, 32 @ t.t, 2), "gmem")


@module(entry="quotients", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
class Quotients:
    """Integer quotients, of which one may not exist."""

    @func
    def quotients(x: Tensor[(64,), "i32"], y: Tensor[(64,), "i32"]) -> Tensor[(64,), "i32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            a, b = tf.reshard(x, (32 @ t.t, 2), "rmem"), tf.reshard(y, (32 @ t.t, 2), "rmem")
            return tf.reshard(a // b, (32 @ t.t, 2), "gmem")


SUMS = (Tensor[(4, 8, 64), "f32"], Tensor[(4, 8, 64), "f32"], Tensor[(1, 64), "f32"])


@module(entry="sums_so_far", target=TARGET, topologies=(Topology("thread", 32),))
class SumsSoFar:
    """Loops that fill two results and carry a sum in registers, which is a third one."""

    @func
    def sums_so_far(x: Tensor[(4, 8, 64), "f32"]) -> SUMS:
        with Mesh(("thread",), (32,), ("t",)) as m:
            sums, squares = tf.zeros(Tensor[(4, 8, 64), "f32"]), tf.zeros(Tensor[(4, 8, 64), "f32"])
            total = tf.reshard(tf.zeros(Tensor[(1, 64), "f32"]), (1, 64 @ m.t), "rmem")
            for j in range(4):
                for i in range(8):
                    row = tf.reshard(x[j, i : i + 1], (1, 64 @ m.t), "rmem")
                    total = total + row
                    sums = tf.insert_slice(sums, total, (j, i, 0))
                    squares = tf.insert_slice(squares, row * row, (j, i, 0))
            return sums, squares, tf.reshard(total * 2.0, (1, 64 @ m.t), "gmem")
