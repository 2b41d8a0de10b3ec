# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Views, parts and fresh tensors on placements that people write: tiles and ops on them, axes split twice, carries."""

from __future__ import annotations

import math

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 2), Topology("thread", 32))
M = DimVar("M", 1, 1 << 20)


def results(*types: object) -> object:
    """The annotation of several results, of f32 where a shape stands."""
    return tuple[tuple(Tensor[t, "f32"] if isinstance(t, tuple) else t for t in types)]


CARRIED = results((4, 8), (), Tensor[(), "i64"])
PRODUCTS = results((32, 16), (16, 16))
GIVEN = results((M, 8), (), (M, 3))
SPLIT = results(
    (2, 32, 12), (768,), (12, 32), (8, 4), (1, 4), (32, 4), (32, 4), (32, 12), (32, 1, 12), (3, 32, 5), (64, 8)
)


@module(entry="split", target=TARGET, topologies=LEVELS)
class Split:
    """Axes that one, two or three mesh axes split."""

    @func
    def split(
        x: Tensor[(64, 12), "f32"], y: Tensor[(4, 8), "f32"], z: Tensor[(32, 1, 12), "f32"], w: Tensor[(64, 8), "f32"]
    ) -> SPLIT:
        with Mesh(("cta", "thread"), (2, 4, 8), ("c", "a", "b")) as m:
            r = tf.reshard(x, (64 @ (m.c, m.a, m.b), 12), "rmem")
            half = tf.reshard(x[32:], (32 @ (m.a, m.b), 3, 4), "rmem")
            square = tf.reshard(y, (4 @ m.a, 8), "rmem")
            turned = tf.transpose(square, perm=(1, 0))
            first, second, third = tf.split(half, axis=1, num_splits=3)
            column = tf.reshard(z[:, :, 3:4], (32 @ (m.a, m.b), 1, 1), "rmem")
            coarse, fine = tf.reshard(w, (8 @ m.b, 8, 8), "rmem"), tf.reshard(w, (8 @ m.b, 2, 4, 8), "rmem")
            return (
                tf.reshard(tf.reshape(r, (2, 32, 12)), (2 @ m.c, 4 @ m.a, 8 @ m.b, 12), "gmem"),
                tf.reshard(tf.reshape(r, (768,)), (64 @ (m.c, m.a, m.b), 12), "gmem"),
                tf.reshard(tf.transpose(half, perm=(1, 0)) + 1.0, (12, 32 @ (m.a, m.b)), "gmem"),
                tf.reshard(turned * turned + tf.transpose(square * 2.0, perm=(1, 0)), (8, 4 @ m.a), "gmem"),
                tf.reshard(tf.reduce(turned, (0,), True, ReduceKind.SUM), (1, 4 @ m.a), "gmem"),
                tf.reshard(third, (32 @ (m.a, m.b), 4), "gmem"),
                tf.reshard(first + second, (32 @ (m.a, m.b), 4), "gmem"),
                tf.reshard(tf.reshard(tf.squeeze(z, 1), (32 @ (m.a, m.b), 12), "rmem"), (32 @ (m.a, m.b), 12), "gmem"),
                tf.reshard(tf.unsqueeze(half, 1), (32 @ (m.a, m.b), 1, 12), "gmem"),
                tf.reshard(tf.expand(tf.squeeze(column, 1), (3, 32, 5)), (3, 32 @ (m.a, m.b), 5), "gmem"),
                tf.reshard(coarse + fine, (8 @ m.b, 2, 4, 8), "gmem"),
            )


TILES = results((4, 24), (8, 3, 4), (12, 8), (8, 4), (8, 4), (8, 12), (3, 8, 5), (8, 12), (), ())


@module(entry="tiles", target=TARGET, topologies=LEVELS)
class Tiles:
    """Tiles of shared memory, whose rows are padded."""

    @func
    def tiles(x: Tensor[(8, 12), "f32"], z: Tensor[(8, 1), "f32"], i: Tensor[(), "i32"]) -> TILES:
        with Mesh(("cta", "thread"), (2, 4, 8), ("c", "a", "b")) as m:
            s = tf.reshard(x, (8, 12), "smem")
            one = tf.reshard(z, (8, 1), "smem")
            a, _b, c = tf.split(s, axis=1, num_splits=3)
            turned = tf.reshard(tf.transpose(s, perm=(1, 0)), (12, 8 @ m.b), "rmem")
            cut = tf.reshard(tf.reshape(s, (8, 3, 4)), (4 @ m.a, 2, 3, 4), "rmem")
            return (
                tf.reshard(tf.reshape(s, (4, 24)), (4, 24), "gmem"),
                tf.reshard(cut, (4 @ m.a, 2, 3, 4), "gmem"),
                tf.reshard(turned, (12, 8 @ m.b), "gmem"),
                tf.reshard(c, (8, 4), "gmem"),
                tf.reshard(a, (8, 4), "gmem"),
                tf.reshard(tf.squeeze(tf.unsqueeze(s, 1), 1), (8, 12), "gmem"),
                tf.reshard(tf.expand(one, (3, 8, 5)), (3, 8, 5), "gmem"),
                tf.reshard(tf.full_like(s, 2.5), (8, 12), "gmem"),
                tf.reshard(tf.squeeze(s[i : i + 1, 3:4], (0, 1)), (), "gmem"),
                s[2, 5],
            )


FRESH = results(
    Tensor[(32, 4), "bool"], Tensor[(M, 4), "bf16"], (), Tensor[(32,), "i32"], Tensor[(64,), "i32"],
    Tensor[(M,), "i64"], Tensor[(8, 8), "i32"], Tensor[(8,), "i32"], Tensor[(M, 4), "f16"], (32,), Tensor[(), "i64"],
    (1,), (32,), (M, 5), (8,),
)  # fmt: skip


@module(entry="fresh", target=TARGET, topologies=LEVELS)
class Fresh:
    """What is made from nothing or from scalars: in registers, in tiles, as results of any extent."""

    @func
    def fresh(
        x: Tensor[(M, 4), "f16"], n: Tensor[(), "f32"], y: Tensor[(32,), "f32"], z: Tensor[(M, 1), "f32"]
    ) -> FRESH:
        with Mesh(("cta", "thread"), (2, 4, 8), ("c", "a", "b")) as m:
            no = tf.reshard(tf.zeros(Tensor[(32, 4), "bool"]), (32 @ (m.a, m.b), 4), "rmem")
            ramp = tf.arange(Tensor[(64,), "i32"], 3, 2)
            spread = tf.reshard(ramp, (2 @ m.c, 4 @ m.a, 8 @ m.b), "rmem")
            square = tf.reshard(tf.reshape(tf.arange(Tensor[(64,), "i32"]), (8, 8)), (8 @ m.b, 8), "rmem")
            scaled = tf.reshard(y, (32 @ (m.a, m.b),), "rmem") * tf.full_like(n, 3.0)
            joined = tf.concat(tf.zeros(Tensor[(3,), "f32"]), y[1:6], axis=0)
            return (
                tf.reshard(no, (32 @ (m.a, m.b), 4), "gmem"),
                tf.zeros(Tensor[(M, 4), "bf16"]),
                tf.reshard(tf.zeros(Tensor[(), "f32"]), (), "gmem"),
                tf.reshard(tf.reshard(tf.arange(Tensor[(32,), "i32"], 3, 2), (32,), "smem"), (32,), "gmem"),
                tf.reshard(spread, (64 @ (m.c, m.a, m.b),), "gmem"),
                tf.arange(Tensor[(M,), "i64"], 7, -3),
                tf.reshard(square, (8 @ m.b, 8), "gmem"),
                tf.reshard(tf.reshard(ramp[3:27:3], (8 @ m.b,), "rmem"), (8 @ m.b,), "gmem"),
                tf.reshard(tf.full_like(x, 3.0), (M, 4), "gmem"),
                tf.reshard(scaled, (32 @ (m.a, m.b),), "gmem"),
                tf.reshard(tf.rank(x) + tf.shape_of(x)[1] * tf.shape_of(x)[0], (), "gmem"),
                tf.reshard(tf.unsqueeze(n, 0), (1,), "gmem"),
                tf.reshard(tf.reshard(tf.expand(n, (32,)), (32 @ (m.a, m.b),), "rmem"), (32 @ (m.a, m.b),), "gmem"),
                tf.reshard(tf.expand(z, (M, 5)), (M, 5), "gmem"),
                tf.reshard(tf.reshard(joined, (8 @ m.b,), "rmem"), (8 @ m.b,), "gmem"),
            )


@module(entry="carried", target=TARGET, topologies=LEVELS)
class Carried:
    """Scalars that a loop carries, and fragments that change places, one of them turned round."""

    @func
    def carried(x: Tensor[(4, 8), "f32"], n: Tensor[(), "i64"]) -> CARRIED:
        with Mesh(("cta", "thread"), (2, 4, 8), ("c", "a", "b")) as m:
            a = tf.reshard(x, (4 @ m.a, 8), "rmem")
            b = a * 2.0
            total = tf.reduce(a, (0, 1), False, ReduceKind.SUM)
            low, high = n, n + 1
            for _i in range(5):
                other = tf.flip(a, axes=1)
                a = b + total
                b = other
                total = total * 2.0 - 1.0
                low, high = high, low + high
            return tf.reshard(a - b, (4 @ m.a, 8), "gmem"), tf.reshard(total, (), "gmem"), tf.reshard(low, (), "gmem")


@module(entry="products", target=TARGET, topologies=LEVELS)
class Products:
    """Tiles that are joined, or start anywhere in another, as operands of matrix products."""

    @func
    def products(x: Tensor[(16, 40), "bf16"], y: Tensor[(16, 16), "bf16"]) -> PRODUCTS:
        with Mesh(("cta", "thread"), (2, 4, 8), ("c", "a", "b")) as m:
            s, b = tf.reshard(x, (16, 40), "smem"), tf.reshard(y, (16, 16), "smem")
            tall = tf.matmul(tf.concat(b, s[:, 8:24], axis=0), b)
            p = tf.reshard(tf.matmul(s[:, 3:19], b), (4 @ m.a, 4, 8 @ m.b, 2), "rmem")
            q = tf.reshard(tf.matmul(s[:, 16:32], tf.transpose(b, perm=(1, 0))), (4 @ m.a, 4, 8 @ m.b, 2), "rmem")
            return (
                tf.reshard(
                    tf.cast(tf.reshard(tall, (4 @ m.a, 8, 8 @ m.b, 2), "rmem"), "f32"), (4 @ m.a, 8, 8 @ m.b, 2), "gmem"
                ),
                tf.reshard(tf.cast(p, "f32") + tf.cast(q, "f32"), (4 @ m.a, 4, 8 @ m.b, 2), "gmem"),
            )


@module(entry="given", target=TARGET, topologies=LEVELS)
class Given:
    """Results that are parameters, or windows of them."""

    @func
    def given(x: Tensor[(M, 8), "f32"], n: Tensor[(), "f32"]) -> GIVEN:
        return x, n, x[:, 2:5]


def of_shared_tiles(rows: int, columns: int) -> Module:
    """Ops on shared tiles: their values are tiles as well, or go to registers."""
    both, flat, turned = (rows, columns), (rows * columns,), (columns, rows)
    spread = math.gcd(columns, 32)
    given = results(
        both, both, both, Tensor[both, "f16"], (rows, 1), (columns,), both, both, both, both, both, both, turned, both,
        flat, (3, 4), (rows, 2), Tensor[(rows, 2), "i64"], Tensor[(rows,), "i64"], Tensor[(rows,), "bool"], (), both,
    )  # fmt: skip

    @module(entry="shared", target=TARGET, topologies=LEVELS)
    class Shared:
        @func
        def shared(x: Tensor[both, "f32"], v: Tensor[(columns,), "f32"]) -> given:
            with Mesh(("thread",), (32 // spread, spread), ("h", "t")) as m:
                t, w = tf.reshard(x, both, "smem"), tf.reshard(v, (columns,), "smem")
                u = tf.relu(t)
                best, places = tf.topk(u + t, 2, axis=1)
                held = tf.reshard(tf.softmax(t * 2.0, axis=1), (rows, spread @ m.t, columns // spread), "rmem")
                return (
                    tf.reshard(u, both, "gmem"),
                    tf.reshard(u * t + w, both, "gmem"),
                    tf.reshard(t - tf.reduce(t, (0,), True, ReduceKind.MAX), both, "gmem"),
                    tf.reshard(tf.cast(t, "f16"), both, "gmem"),
                    tf.reshard(tf.reduce(t, (1,), True, ReduceKind.SUM), (rows, 1), "gmem"),
                    tf.reshard(tf.reduce(u, (0,), False, ReduceKind.MEAN), (columns,), "gmem"),
                    tf.reshard(tf.softmax(t, axis=0), both, "gmem"),
                    tf.reshard(held, (rows, spread @ m.t, columns // spread), "gmem"),
                    tf.reshard(tf.cumsum(t, axis=0), both, "gmem"),
                    tf.reshard(tf.cumsum(u, axis=1), both, "gmem"),
                    tf.reshard(tf.rms_norm(t, w, 1e-5), both, "gmem"),
                    tf.reshard(tf.where(t > 0.0, t, tf.clamp(t, -0.5, 0.5)), both, "gmem"),
                    tf.reshard(tf.transpose(tf.silu(t), perm=(1, 0)) * 2.0, turned, "gmem"),
                    tf.reshard(tf.flip(t * 2.0, axes=0), both, "gmem"),
                    tf.reshard(tf.reshape(tf.gelu(t), flat) + 1.0, flat, "gmem"),
                    tf.reshard(u[1:4, 0:4] + t[2:5, 1:5], (3, 4), "gmem"),
                    tf.reshard(best, (rows, 2), "gmem"),
                    tf.reshard(places + places, (rows, 2), "gmem"),
                    tf.reshard(tf.argmax(t, axis=1), (rows,), "gmem"),
                    tf.reshard(tf.reduce(t > 2.0, (1,), False, ReduceKind.ANY), (rows,), "gmem"),
                    tf.reduce(t, (0, 1), False, ReduceKind.MAX),
                    tf.reshard(t * tf.reduce(u, (0, 1), False, ReduceKind.MAX), both, "gmem"),
                )

    return Shared


WALKED = results((32, 4), (M, 16), (16, 16))


@module(entry="walked", target=TARGET, topologies=LEVELS)
class Walked:
    """Ops on tiles in loops, windows that leave a tile or registers, and products of such values."""

    @func
    def walked(x: Tensor[(33, 9), "f32"], y: Tensor[(M, 16), "f32"], z: Tensor[(16, 16), "bf16"]) -> WALKED:
        with Mesh(("cta",), (2,), ("c",)) as c, Mesh(("thread",), (4, 8), ("a", "b")) as m:
            t, s = tf.reshard(x, (33, 9), "smem"), tf.reshard(z, (16, 16), "smem")
            total = tf.reshard(tf.zeros(Tensor[(32, 4), "f32"]), (32 @ (m.a, m.b), 4), "rmem")
            held = tf.reshard(x[0:32, :], (32 @ (m.a, m.b), 9), "rmem")
            for i in tile(96, 32):
                for j in tile(9, 4):
                    total = total + tf.reshard(t[i, j] * 2.0, (32 @ (m.a, m.b), 4), "rmem")
                    total = total + held[:, j] * held[:, j - 1]
            doubled = s + s
            column = tf.reduce(tf.cast(doubled, "f32"), (0,), False, ReduceKind.SUM)
            rows = tf.zeros(Tensor[(M, 16), "f32"])
            for i in tile(M, 8) @ c.c:
                part = tf.reshard(y[i], (8, 16), "smem")
                rows = tf.insert_slice(rows, tf.cumsum(part * column, axis=1) + part, (i, 0))
            product = tf.reshard(tf.matmul(tf.relu(s), doubled), (4 @ m.a, 4, 8 @ m.b, 2), "rmem")
            return (
                tf.reshard(total, (32 @ (m.a, m.b), 4), "gmem"),
                rows,
                tf.reshard(tf.cast(product, "f32"), (4 @ m.a, 4, 8 @ m.b, 2), "gmem"),
            )
