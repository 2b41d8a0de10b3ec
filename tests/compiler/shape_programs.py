# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs that join, pad, reverse, repeat and cut tensors: in registers, in tiles, as they are loaded."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 2), Topology("thread", 128))
M = DimVar("M", 1, 1 << 20)
N = DimVar("N", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


def results(dtype: str, *shapes: object) -> object:
    """The annotation of several results of one dtype."""
    return tuple[tuple(Tensor[shape, dtype] for shape in shapes)]


def in_registers(dtype: str, pad: float = -1.5) -> Module:
    """Rows over warps and lanes hold whole columns."""
    outs = results(
        dtype, (128, 12), (3, 128, 5), (128, 5), (128, 9), (128, 2), (128, 5), (128, 7), (5, 128), (128, 15), (128, 4)
    )

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(128, 5), dtype], y: Tensor[(128, 7), dtype]) -> outs:
            with Mesh(("thread",), (4, 32), ("w", "l")) as t:
                a = tf.reshard(x, (4 @ t.w, 32 @ t.l, 5), "rmem")
                b = tf.reshard(y, (4 @ t.w, 32 @ t.l, 7), "rmem")
                joined = tf.concat(a, b, axis=1)
                one = tf.reshape(joined[:, 3:4], (128, 1))
                left, right = tf.split(joined, axis=-1, num_splits=3)[0], tf.split(joined, axis=-1, num_splits=3)[2]
                return (
                    tf.reshard(joined, (4 @ t.w, 32 @ t.l, 12), "gmem"),
                    tf.reshard(tf.stack(a, b[:, 1:6], a, axis=0), (3, 4 @ t.w, 32 @ t.l, 5), "gmem"),
                    tf.reshard(tf.flip(a, axes=-1), (4 @ t.w, 32 @ t.l, 5), "gmem"),
                    tf.reshard(tf.pad(a, pad=(3, 1), value=pad), (4 @ t.w, 32 @ t.l, 9), "gmem"),
                    tf.reshard(b[:, 1:6:4], (4 @ t.w, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.expand(one, (128, 5)), (4 @ t.w, 32 @ t.l, 5), "gmem"),
                    tf.reshard(
                        tf.concat(left, tf.pad(right[:, :2], pad=(0, 1)), axis=1), (4 @ t.w, 32 @ t.l, 7), "gmem"
                    ),
                    tf.reshard(tf.transpose(a, perm=(1, 0)), (5, 4 @ t.w, 32 @ t.l), "gmem"),
                    tf.reshard(tf.concat(a, tf.flip(a, axes=1), a, axis=1), (4 @ t.w, 32 @ t.l, 15), "gmem"),
                    tf.reshard(left, (4 @ t.w, 32 @ t.l, 4), "gmem"),
                )

    return Moved


def other_placements(dtype: str) -> Module:
    """Columns over threads, rows of both levels, and axes of several factors, which the joined ones are not."""
    outs = results(dtype, (12, 128), (12, 128), (8, 16, 6), (7, 128), (16, 3, 8))

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(5, 128), dtype], y: Tensor[(7, 128), dtype], z: Tensor[(8, 16, 3), dtype]) -> outs:
            with Mesh(("cta", "thread"), (2, 8, 16), ("c", "h", "l")) as m:
                a = tf.reshard(x, (5, 8 @ m.h, 16 @ m.l), "rmem")
                b = tf.reshard(y, (7, 8 @ m.h, 16 @ m.l), "rmem")
                d = tf.reshard(z, (2 @ m.c, 4, 16 @ m.l, 3), "rmem")
                turned = tf.transpose(d, perm=(1, 2, 0))
                joined = tf.concat(a, b, axis=0)
                return (
                    tf.reshard(joined, (12, 8 @ m.h, 16 @ m.l), "gmem"),
                    tf.reshard(tf.flip(joined, axes=(0,)), (12, 8 @ m.h, 16 @ m.l), "gmem"),
                    tf.reshard(tf.concat(d, tf.flip(d, axes=2), axis=2), (2 @ m.c, 4, 16 @ m.l, 6), "gmem"),
                    tf.reshard(tf.pad(a[1:4], pad=(0, 0, 3, 1)), (7, 8 @ m.h, 16 @ m.l), "gmem"),
                    tf.reshard(turned, (16 @ m.l, 3, 2 @ m.c, 4), "gmem"),
                )

    return Moved


def updated_registers(dtype: str) -> Module:
    """Windows of values in registers, overwritten: by registers, a global tensor, a number, along a dropped axis."""
    outs = results(dtype, (7, 128), (7, 128), (8, 16, 6))
    three = 3 if dtype == "i64" else 3.0

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(7, 128), dtype], y: Tensor[(2, 128), dtype], z: Tensor[(8, 16, 6), dtype]) -> outs:
            with Mesh(("cta", "thread"), (2, 8, 16), ("c", "h", "l")) as m:
                a = tf.reshard(x, (7, 8 @ m.h, 16 @ m.l), "rmem")
                d = tf.reshard(z, (2 @ m.c, 4, 16 @ m.l, 6), "rmem")
                b = tf.insert_slice(a, a[0:2], (3, 0))
                b = tf.insert_slice(b, a[1:4], (2, 0))
                c = tf.insert_slice(a, y, (0, 0))
                c = tf.insert_slice(c, tf.full_like(a, three)[2:3], (5, 0))
                c = tf.insert_slice(c, a[4], (6, 0))
                return (
                    tf.reshard(b, (7, 8 @ m.h, 16 @ m.l), "gmem"),
                    tf.reshard(c, (7, 8 @ m.h, 16 @ m.l), "gmem"),
                    tf.reshard(tf.insert_slice(d, d[:, :, 1:4], (0, 0, 3)), (2 @ m.c, 4, 16 @ m.l, 6), "gmem"),
                )

    return Moved


def in_tiles(dtype: str, pad: float = -1.5) -> Module:
    """Tiles of shared memory, of odd extents, read into registers in other factors and straight to results."""
    outs = results(
        dtype, (8, 19), (8, 2, 6), (12, 10), (8, 6), (32, 6), (8, 7), (4, 8), (3, 3), (6,), (8, 12), (2, 2, 6)
    )

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(8, 6), dtype], y: Tensor[(8, 7), dtype]) -> outs:
            with Mesh(("thread",), (4, 32), ("w", "l")) as t:
                a = tf.reshard(x, (8, 6), "smem")
                b = tf.reshard(y, (8, 7), "smem")
                return (
                    tf.reshard(
                        tf.reshard(tf.concat(a, b, a, axis=1), (4 @ t.w, 2, 19), "rmem"), (4 @ t.w, 2, 19), "gmem"
                    ),
                    tf.reshard(tf.stack(a, b[:, 1:], axis=1), (8, 2, 6), "gmem"),
                    tf.reshard(tf.pad(b, pad=(2, 1, 3, 1), value=pad), (12, 10), "gmem"),
                    tf.reshard(tf.reshard(tf.flip(a, axes=(0, 1)), (4 @ t.w, 2, 6), "rmem"), (4 @ t.w, 2, 6), "gmem"),
                    tf.reshard(tf.repeat_interleave(a, 4, 0), (32, 6), "gmem"),
                    tf.reshard(
                        tf.reshard(tf.expand(a[:, 2:3], (8, 7)), (4 @ t.w, 2, 7), "rmem"), (4 @ t.w, 2, 7), "gmem"
                    ),
                    tf.reshard(tf.transpose(a, perm=(1, 0))[1:5], (4, 8), "gmem"),
                    tf.reshard(a[1:7:2, 1:4], (3, 3), "gmem"),
                    tf.reshard(b[3, 1:], (6,), "gmem"),
                    tf.reshard(tf.repeat_interleave(a, 2, -1), (8, 12), "gmem"),
                    tf.reshard(tf.reshape(a[2:6], (2, 2, 6)), (2, 2, 6), "gmem"),
                )

    return Moved


def as_loaded(dtype: str, pad: float = -1.5) -> Module:
    """Global tensors, of which each thread reads its part of the joined, padded, reversed, repeated value."""
    outs = results(
        dtype, (32, 6), (8, 11), (4, 8, 6), (12, 8), (8, 5), (32, 6), (8, 8), (8, 6), (4, 7), (16, 9), (8, 17), (12, 8),
        (8, 15), (8, 6),
    )  # fmt: skip

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(8, 6), dtype], y: Tensor[(8, 5), dtype], z: Tensor[(24, 6), dtype]) -> outs:
            with Mesh(("thread",), (4, 32), ("w", "l")) as t:
                joined = tf.reshard(tf.concat(x, z, axis=0), (2, 4 @ t.w, 4, 6), "rmem")
                columns = tf.reshard(tf.concat(x, y, axis=1), (4 @ t.w, 2, 11), "rmem")
                stacked = tf.reshard(tf.stack(x, x, z[8:16], x, axis=0), (4 @ t.w, 8, 6), "rmem")
                padded = tf.reshard(tf.pad(y, pad=(2, 1, 3, 1), value=pad), (4 @ t.w, 3, 8), "rmem")
                back = tf.reshard(tf.flip(z[2:10, 1:], axes=(0, 1)), (4 @ t.w, 2, 5), "rmem")
                repeated = tf.reshard(tf.repeat_interleave(x, 4, 0), (4 @ t.w, 8, 6), "rmem")
                expanded = tf.reshard(tf.expand(x[:, 2:3], (8, 8)), (2, 4 @ t.w, 8), "rmem")
                strided = tf.reshard(z[1:23:3], (4 @ t.w, 2, 6), "rmem")
                turned = tf.reshard(tf.transpose(z[0:7], perm=(1, 0))[1:5], (4 @ t.w, 7), "rmem")
                counted = tf.reshard(tf.reshape(z, (16, 9)), (4 @ t.w, 4, 9), "rmem")
                twice = tf.reshard(tf.flip(tf.pad(x[1:7], pad=(0, 0, 1, 1)), axes=0), (4 @ t.w, 2, 6), "rmem")
                return (
                    tf.reshard(joined, (2, 4 @ t.w, 4, 6), "gmem"),
                    tf.reshard(columns, (4 @ t.w, 2, 11), "gmem"),
                    tf.reshard(stacked, (4 @ t.w, 8, 6), "gmem"),
                    tf.reshard(padded, (4 @ t.w, 3, 8), "gmem"),
                    tf.reshard(back, (4 @ t.w, 2, 5), "gmem"),
                    tf.reshard(repeated, (4 @ t.w, 8, 6), "gmem"),
                    tf.reshard(expanded, (2, 4 @ t.w, 8), "gmem"),
                    tf.reshard(strided, (4 @ t.w, 2, 6), "gmem"),
                    tf.reshard(turned, (4 @ t.w, 7), "gmem"),
                    tf.reshard(counted, (4 @ t.w, 4, 9), "gmem"),
                    tf.reshard(tf.reshard(tf.concat(x, y, x, axis=1), (8, 17), "smem"), (8, 17), "gmem"),
                    tf.reshard(tf.reshard(tf.pad(y, pad=(2, 1, 3, 1)), (12, 8), "smem"), (12, 8), "gmem"),
                    tf.reshard(tf.reshard(tf.repeat_interleave(y, 3, 1), (8, 15), "smem"), (8, 15), "gmem"),
                    tf.reshard(twice, (4 @ t.w, 2, 6), "gmem"),
                )

    return Moved


def straight(dtype: str, pad: float = -1.5) -> Module:
    """Results that all CTAs write part by part, of symbolic extents."""
    outs = results(
        dtype,
        (2 * M + N, 6),
        (M, 2, 6),
        (N + 3, 9),
        (M, 6),
        (6, M),
        (3, N, 6),
        (M + N + 2, 6),
        (M, 6),
        (M, 3),
        (1, M, 6),
        (3 * M, 6),
        (N, 12),
        (M + 2 * N, 6),
        (6 * M,),
    )

    @module(entry="moved", target=TARGET, topologies=LEVELS)
    class Moved:
        @func
        def moved(x: Tensor[(M, 6), dtype], y: Tensor[(N, 6), dtype]) -> outs:
            return (
                tf.concat(x, y, x, axis=0),
                tf.stack(x, x, axis=1),
                tf.pad(y, pad=(1, 2, 3, 0), value=pad),
                tf.flip(x, axes=(0, 1)),
                tf.transpose(x, perm=(1, 0)),
                tf.expand(tf.unsqueeze(y, 0), (3, N, 6)),
                tf.concat(tf.flip(tf.pad(x, pad=(0, 0, 1, 1)), axes=0), y, axis=0),
                tf.reshard(x, (M, 6), "gmem"),
                x[:, 1:6:2],
                tf.reshard(tf.unsqueeze(x, 0), (1, M, 6), "gmem"),
                tf.repeat_interleave(x, 3, 0),
                tf.reshard(tf.repeat_interleave(y, 2, 1), (N, 12), "gmem"),
                tf.concat(x, tf.repeat_interleave(y, 2, 0), axis=0),
                tf.reshape(x, (6 * M,)),
            )

    return Moved


TAILS = results("f32", (M, 40), (M, 64), (M, 32))
ENDS = results("f32", (9, 32), (9, 32))
STARTS = results("f32", (4, 6), (2, 6), (2, 6), (6,), (4, 2), (8, 4))


@module(entry="tails", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
class Tails:
    """In tiles of rows, of which the last hangs over: joined as they are loaded, and inserted from memory to memory."""

    @func
    def tails(x: Tensor[(M, 32), "f32"], y: Tensor[(M, 8), "f32"]) -> TAILS:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            a, b = tf.zeros(Tensor[(M, 40), "f32"]), tf.zeros(Tensor[(M, 64), "f32"])
            d = tf.zeros(Tensor[(M, 32), "f32"])
            for i in tile(M, 4) @ cta.c:
                a = tf.insert_slice(a, tf.concat(x[i, :], y[i, :], axis=1), (i, 0))
                r = tf.reshard(tf.concat(x[i, :], tf.flip(x[i, :], axes=1), axis=1), (4 @ t.w, 2, 32 @ t.l), "rmem")
                b = tf.insert_slice(b, r + 1.0, (i, 0))
                s = tf.reshard(x[i, :], (4, 32), "smem")
                d = tf.insert_slice(d, tf.concat(s[:, 7:], s[:, :7], axis=1), (i, 0))
        return a, b, d


@module(entry="loops", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
class Loops:
    """Two loops that fill the two parts of one result."""

    @func
    def loops(x: Tensor[(M, 32), "f32"], y: Tensor[(N, 32), "f32"]) -> Tensor[(M + N, 32), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            a = tf.zeros(Tensor[(M, 32), "f32"])
            for i in tile(M, 4) @ cta.c:
                a = tf.insert_slice(a, tf.reshard(x[i, :], (4 @ t.w, 32 @ t.l), "rmem") * 2.0, (i, 0))
            b = tf.zeros(Tensor[(N, 32), "f32"])
            for j in tile(N, 4) @ cta.c:
                b = tf.insert_slice(b, -tf.reshard(y[j, :], (4 @ t.w, 32 @ t.l), "rmem"), (j, 0))
        return tf.concat(a, b, axis=0)


@module(entry="ends", target=TARGET, topologies=LEVELS)
class Ends:
    """Windows that go to parameters and to elements of tensors, over what other threads of the CTA have written."""

    @func
    def ends(
        x: Tensor[(9, 32), "f32"], i: Tensor[(), "i32"], at: Tensor[(5,), "i64"], u: Tensor[(2, 32), "f32"]
    ) -> ENDS:
        with Mesh(("cta",), (2,), ("c",)) as cta, Mesh(("thread",), (2, 64), ("r", "l")) as t:
            a = tf.zeros(Tensor[(9, 32), "f32"])
            for j in tile(32, 16) @ cta.c:
                a = tf.insert_slice(a, tf.reshard(x[:, j], (9, 16), "smem"), (0, j))
                rows = tf.reshard(u[:, j], (2 @ t.r, 16), "rmem")
                a = tf.insert_slice(a, rows, (i, j))
                for k in range(3):
                    a = tf.insert_slice(a, rows * tf.cast(k, "f32"), (k + 2, j))
            return a, tf.insert_slice(x, u[:, 3:8], (i, at[1]))


@module(entry="starts", target=TARGET, topologies=LEVELS)
class Starts:
    """Windows at parameters, at elements of tensors, at loop variables: of a global tensor and of a tile."""

    @func
    def starts(
        x: Tensor[(M, 6), "f32"], i: Tensor[(), "i32"], at: Tensor[(5,), "i64"], d: Tensor[(9, 6), "f32"]
    ) -> STARTS:
        with Mesh(("thread",), (4, 32), ("w", "l")) as t:
            a = tf.reshard(x[i : i + 4], (4 @ t.w, 6), "rmem")
            s = tf.reshard(d, (9, 6), "smem")
            b = tf.reshard(x[at[2] : at[2] + 2], (2, 6), "smem")
            row = tf.reshard(tf.reshape(x[at[1] : at[1] + 1], (6,)), (6,), "smem")
            acc = tf.reshard(tf.zeros(Tensor[(4, 2), "f32"]), (4 @ t.w, 2), "rmem")
            for k in range(5):
                acc = acc + tf.reshard(s[k : k + 4, at[0] : at[0] + 2], (4 @ t.w, 2), "rmem")
            g = tf.reshard(tf.transpose(s, perm=(1, 0))[i : i + 4, 1:9], (4 @ t.w, 8), "rmem")
            return (
                tf.reshard(a, (4 @ t.w, 6), "gmem"),
                tf.reshard(s[i : i + 2, :], (2, 6), "gmem"),
                tf.reshard(b, (2, 6), "gmem"),
                tf.reshard(row, (6,), "gmem"),
                tf.reshard(acc, (4 @ t.w, 2), "gmem"),
                tf.reshard(tf.transpose(g, perm=(1, 0)), (8, 4 @ t.w), "gmem"),
            )


SCALARS = tuple[
    Tensor[(), "f32"], Tensor[(), "i64"], Tensor[(), "bool"], Tensor[(), "bf16"], Tensor[(3,), "f32"],
    Tensor[(4, 6), "f32"], Tensor[(), "f32"], Tensor[(2,), "i64"], Tensor[(), "i64"], Tensor[(), "i64"],
]  # fmt: skip


@module(entry="scalars", target=TARGET, topologies=LEVELS)
class Scalars:
    """Results of rank 0: reductions, elements, extents; and vectors of them."""

    @func
    def scalars(x: Tensor[(M, 6), "f32"], n: Tensor[(), "i64"], at: Tensor[(5,), "i64"]) -> SCALARS:
        with Mesh(("thread",), (4, 32), ("w", "l")) as t:
            r = tf.reshard(x[0:8], (4 @ t.w, 2, 6), "rmem")
            total = tf.reduce(r, (0, 1), False, ReduceKind.SUM)
            most = tf.reduce(r, (0, 1), False, ReduceKind.MAX)
            return (
                tf.reshard(total, (), "gmem"),
                tf.reshard(at[3] + n, (), "gmem"),
                tf.reshard(most > total, (), "gmem"),
                tf.reshard(tf.cast(-most, "bf16"), (), "gmem"),
                tf.reshard(tf.stack(total, most, total * 2.0), (3,), "gmem"),
                tf.reshard(tf.reshard(x[0:4], (4 @ t.w, 6), "rmem") * most, (4 @ t.w, 6), "gmem"),
                x[3, 2],
                tf.reshard(tf.shape_of(x), (2,), "gmem"),
                tf.reshard(tf.shape_of(x)[0], (), "gmem"),
                tf.reshard(tf.rank(x), (), "gmem"),
            )


@module(entry="rows", target=TARGET, topologies=LEVELS)
class Rows:
    """Rows of three tensors, one after the other."""

    @func
    def rows(x: Tensor[(M, 64), "f32"], y: Tensor[(N, 64), "f32"]) -> Tensor[(2 * M + N, 64), "f32"]:
        return tf.concat(x, y, x, axis=0)


CHOSEN = results("f32", (2, 4, 12), (8, 6), (7, 6))


@module(entry="chosen", target=TARGET, topologies=LEVELS)
class Chosen:
    """Rows of a table at run-time indices, joined with others in registers, in a tile, as a result."""

    @func
    def chosen(table: Tensor[(M, 6), "f32"], ids: Tensor[(4,), "i32"], x: Tensor[(4, 6), "f32"]) -> CHOSEN:
        with Mesh(("thread",), (4, 32), ("w", "l")) as t:
            rows = tf.index_select(table, ids, dim=0)
            r = tf.reshard(tf.concat(x, rows, axis=1), (4 @ t.w, 12), "rmem")
            s = tf.reshard(tf.concat(rows, x, axis=0), (8, 6), "smem")
            stacked = tf.reshard(tf.stack(r, r, axis=0), (2, 4 @ t.w, 12), "gmem")
            return stacked, tf.reshard(s, (8, 6), "gmem"), tf.concat(x[:3], rows, axis=0)
