# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Products of register fragments, of which each thread has a term where K is split, and what becomes of the terms."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import P, ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
WARP = (Topology("thread", 32),)
LEVELS = (Topology("thread", 128),)
K = DimVar("K", 1, 1 << 16)


def over_lanes(dtype: str, rows: int = 5, k: int = 64) -> Module:
    """K over the lanes of a warp; odd rows."""

    @func(target=TARGET, topologies=WARP)
    def product(a: Tensor[(rows, k), dtype], b: Tensor[(k, 3), dtype]) -> Tensor[(rows, 3), dtype]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            x = tf.reshard(a, (rows, k @ m.t), "rmem")
            y = tf.reshard(b, (k @ m.t, 3), "rmem")
            return tf.reshard(x @ y, (rows, 3), "gmem")

    return product


@func(target=TARGET, topologies=LEVELS)
def over_warps(a: Tensor[(64, 12), "f32"], b: Tensor[(12, 5), "f32"]) -> Tensor[(64, 5), "f32"]:
    """K over warps, rows over lanes."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (32 @ m.l, 2, 4 @ m.w, 3), "rmem")
        y = tf.reshard(b, (4 @ m.w, 3, 5), "rmem")
        return tf.reshard(x @ y, (32 @ m.l, 2, 5), "gmem")


@func(target=TARGET, topologies=LEVELS)
def over_two_axes(a: Tensor[(7, 256), "bf16"], b: Tensor[(256, 3), "bf16"]) -> Tensor[(7, 3), "bf16"]:
    """K over warps and lanes."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (7, 256 @ (m.w, m.l)), "rmem")
        y = tf.reshard(b, (256 @ (m.w, m.l), 3), "rmem")
        return tf.reshard(x @ y, (7, 3), "gmem")


PAIR = (Tensor[(7, 3), "f32"], Tensor[(7, 3), "f32"], Tensor[(7, 1), "f32"], Tensor[(3, 7), "f32"])


@func(target=TARGET, topologies=LEVELS)
def terms(a: Tensor[(7, 256), "f32"], b: Tensor[(256, 3), "f32"]) -> PAIR:
    """What may be done to terms: sums of two, multiples, moves, sums along their own axes."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (7, 4 @ m.w, 2, 32 @ m.l), "rmem")
        y = tf.reshard(b, (4 @ m.w, 2, 32 @ m.l, 3), "rmem")
        z = x @ y
        of_warps = tf.reshard(z, ((7, 3), {m.w @ P("sum")}), "rmem")
        return (
            tf.reshard(-z * 3.0 + z, (7, 3), "gmem"),
            tf.reshard(of_warps + of_warps, (7, 3), "gmem"),
            tf.reshard(tf.reduce(z, (1,), True, ReduceKind.SUM), (7, 1), "gmem"),
            tf.reshard(tf.transpose(z, perm=(1, 0)), (3, 7), "gmem"),
        )


@func(target=TARGET, topologies=LEVELS)
def batched(a: Tensor[(4, 3, 64), "f32"], b: Tensor[(64, 5), "f32"]) -> Tensor[(4, 3, 5), "f32"]:
    """A matrix for each warp by one for all of them."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (4 @ m.w, 3, 32 @ m.l, 2), "rmem")
        y = tf.reshard(b, (32 @ m.l, 2, 5), "rmem")
        return tf.reshard(x @ y, (4 @ m.w, 3, 5), "gmem")


@func(target=TARGET, topologies=LEVELS)
def pairs(a: Tensor[(2, 1, 3, 64), "f32"], b: Tensor[(3, 64, 5), "f32"]) -> Tensor[(2, 3, 3, 5), "f32"]:
    """All pairs of two matrices and three."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (2, 1, 3, 64 @ m.l), "rmem")
        y = tf.reshard(b, (3, 64 @ m.l, 5), "rmem")
        return tf.reshard(x @ y, (2, 3, 3, 5), "gmem")


@func(target=TARGET, topologies=LEVELS)
def nothing_split(a: Tensor[(8, 6), "i32"], b: Tensor[(6, 64), "i32"]) -> Tensor[(8, 64), "i32"]:
    """Rows over warps, columns over lanes: each thread has its own elements."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (4 @ m.w, 2, 6), "rmem")
        y = tf.reshard(b, (6, 32 @ m.l, 2), "rmem")
        return tf.reshard(x @ y, (4 @ m.w, 2, 32 @ m.l, 2), "gmem")


STAGED = (Tensor[(8, 4), "f16"], Tensor[(8, 4), "f16"])


@func(target=TARGET, topologies=LEVELS)
def staged(a: Tensor[(8, 128), "f16"], b: Tensor[(128, 4), "f16"]) -> STAGED:
    """Terms added up in shared memory, of which each thread then takes another part, or all."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        x = tf.reshard(a, (8, 128 @ (m.w, m.l)), "rmem")
        y = tf.reshard(b, (128 @ (m.w, m.l), 4), "rmem")
        tile_ = tf.reshard(x @ y, (8, 4), "smem")
        part = tf.reshard(tile_, (4 @ m.w, 2, 4), "rmem")
        other = tf.reshard(tile_, (2, 4 @ m.w, 4), "rmem")
        return tf.reshard(part * 0.5, (4 @ m.w, 2, 4), "gmem"), tf.reshard(other, (2, 4 @ m.w, 4), "gmem")


@module(entry="f", target=TARGET, topologies=(Topology("cta", 4), *LEVELS))
class Rows:
    """A row for each CTA, by a matrix whose K any call says: tile by tile."""

    @func
    def f(a: Tensor[(4, K), "f32"], b: Tensor[(K, 8), "f32"]) -> Tensor[(4, 8), "f32"]:
        with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as m:
            out = tf.zeros(Tensor[(4, 8), "f32"])
            for r in range(4) @ cta.c:
                acc = tf.reshard(tf.zeros(Tensor[(1, 8), "f32"]), (1, 4 @ m.w, 2), "rmem")
                for k in tile(K, 64):
                    x = tf.reshard(a[r : r + 1, k], (1, 64 @ m.l), "rmem")
                    y = tf.reshard(b[k], (64 @ m.l, 4 @ m.w, 2), "rmem")
                    acc = acc + tf.reshard(x @ y, (1, 4 @ m.w, 2), "rmem")
                out = tf.insert_slice(out, acc, (r, 0))
            return out


@func(target=TARGET, topologies=WARP)
def scalars(a: Tensor[(5, 64), "f32"], b: Tensor[(64, 3), "f32"]) -> (Tensor[(), "f32"], Tensor[(5, 3), "f32"]):
    """Terms of rank 0, and those of tensors with these added."""
    with Mesh(("thread",), (32,), ("t",)) as m:
        x, y = tf.reshard(a, (5, 64 @ m.t), "rmem"), tf.reshard(b, (64 @ m.t, 3), "rmem")
        s = tf.reduce(x @ y, (0, 1), False, ReduceKind.SUM)
        whole = tf.reshard(s + s, (), "rmem") * 0.25
        return tf.reshard(whole, (), "gmem"), tf.reshard(x @ y + s, (5, 3), "gmem")


HELD = (Tensor[(5, 3), "f32"], Tensor[(128, 3), "f32"], Tensor[(5, 1), "f32"])


@func(target=TARGET, topologies=LEVELS)
def held_by_all(
    a: Tensor[(5, 64), "f32"], b: Tensor[(64, 3), "f32"], c: Tensor[(5, 3), "f32"], x: Tensor[(128, 3), "f32"]
) -> HELD:
    """Registers without a mesh, which every thread holds whole, beside terms, parts and each other."""
    with Mesh(("thread",), (4, 32), ("w", "l")) as m:
        left, right = tf.reshard(a, (5, 64 @ m.l), "rmem"), tf.reshard(b, (64 @ m.l, 3), "rmem")
        whole = tf.reshard(c, (5, 3), "rmem")
        rows = tf.reshard(x, (4 @ m.w, 32 @ m.l, 3), "rmem")
        return (
            tf.reshard(tf.reshard(left @ right * whole, (5, 3), "rmem") + whole, (5, 3), "gmem"),
            tf.reshard(rows * tf.abs(whole[2]), (4 @ m.w, 32 @ m.l, 3), "gmem"),
            tf.reshard(tf.reduce(whole * whole, (1,), True, ReduceKind.SUM), (5, 1), "gmem"),
        )


WAYS = (
    Tensor[(6, 4), "f32"], Tensor[(4, 6), "f32"], Tensor[(4, 6), "f32"], Tensor[(4,), "i64"], Tensor[(8, 6), "f32"],
    Tensor[(2, 3), "f32"], Tensor[(6,), "f32"], Tensor[(4, 4), "f32"], Tensor[(2, 12), "f32"], Tensor[(4, 6), "f32"],
)  # fmt: skip


@func(target=TARGET, topologies=WARP)
def moved_by_all(x: Tensor[(4, 6), "f32"]) -> WAYS:
    """What every thread holds, moved, ordered and searched by each of them."""
    r = tf.reshard(x, (4, 6), "rmem")
    return (
        tf.reshard(tf.transpose(r, perm=(1, 0)), (6, 4), "gmem"),
        tf.reshard(tf.cumsum(r, axis=1), (4, 6), "gmem"),
        tf.reshard(tf.sort(r, axis=0)[0], (4, 6), "gmem"),
        tf.reshard(tf.argmax(r, axis=1), (4,), "gmem"),
        tf.reshard(tf.concat(r, tf.flip(r, axes=0), axis=0), (8, 6), "gmem"),
        tf.reshard(r[1:3, ::2], (2, 3), "gmem"),
        tf.reshard(tf.reduce(r, (0,), False, ReduceKind.MAX), (6,), "gmem"),
        tf.reshard(r @ tf.transpose(r, perm=(1, 0)), (4, 4), "gmem"),
        tf.reshard(tf.reshape(r, (2, 12)), (2, 12), "gmem"),
        tf.reshard(tf.insert_slice(r, r[0:1], (2, 0)), (4, 6), "gmem"),
    )
