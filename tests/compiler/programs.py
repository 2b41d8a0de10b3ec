# mypy: ignore-errors
# ruff: noqa: F821, B007
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Small placed programs for the tests of the compiler."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
M = DimVar("M", 1, 1 << 20)
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
