# mypy: ignore-errors
# ruff: noqa: F821, F841
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs that read and write at run-time indices."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
V = DimVar("V", 0, 1 << 20)  # rows of a table; it may be empty
N = DimVar("N", 0, 1 << 20)  # indices
M = DimVar("M", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


def embedding(columns: int, dtype: str, index: str) -> Module:
    """Rows of a table by number, eight to a tile: a table of tokens."""
    D, DT, IT = columns, dtype, index

    @module(entry="embedding", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
    class Embedding:
        @func
        def embedding(table: Tensor[(V, D), DT], ids: Tensor[(N,), IT]) -> Tensor[(N, D), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
                out = tf.zeros(Tensor[(N, D), DT])
                for i in tile(N, 8) @ cta.c:
                    rows = tf.index_select(table, ids[i], dim=0)
                    placed = tf.reshard(rows, (4 @ t.w, 2, 32 @ t.l, D // 32), "rmem")
                    out = tf.insert_slice(out, placed, (i, 0))
            return out

    return Embedding


def staged(dtype: str, index: str) -> Module:
    """Rows of a table into a shared tile, and columns of that tile from indices in shared memory."""
    DT, IT = dtype, index

    @module(entry="staged", target=TARGET, topologies=(Topology("cta", 3), Topology("thread", 64)))
    class Staged:
        @func
        def staged(
            table: Tensor[(V, 24), DT], rows: Tensor[(N,), IT], columns: Tensor[(40,), IT]
        ) -> Tensor[(N, 40), DT]:
            with Mesh(("cta",), (3,), ("c",)) as cta, Mesh(("thread",), (8, 8), ("a", "b")) as t:
                out = tf.zeros(Tensor[(N, 40), DT])
                which = tf.reshard(columns, (40,), "smem")
                for i in tile(N, 16) @ cta.c:
                    chosen = tf.reshard(tf.index_select(table, rows[i], dim=0), (16, 24), "smem")
                    wide = tf.index_select(chosen, which, dim=1)
                    out = tf.insert_slice(out, tf.reshard(wide, (8 @ t.a, 2, 8 @ t.b, 5), "rmem"), (i, 0))
            return out

    return Staged


def in_registers(dim: int, dtype: str, index: str) -> Module:
    """torch.gather of fragments along one of two axes, each spread over threads in its turn."""
    DIM, DT, IT = dim, dtype, index

    @module(entry="picked", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Picked:
        @func
        def picked(x: Tensor[(32, 32), DT], at: Tensor[(32, 32), IT]) -> Tensor[(32, 32), DT]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                if DIM == 0:
                    a, i = tf.reshard(x, (32, 32 @ t.t), "rmem"), tf.reshard(at, (32, 32 @ t.t), "rmem")
                    y = tf.gather(a, i, dim=0)
                    return tf.reshard(y, (32, 32 @ t.t), "gmem")
                else:
                    a, i = tf.reshard(x, (32 @ t.t, 32), "rmem"), tf.reshard(at, (32 @ t.t, 32), "rmem")
                    y = tf.gather(a, i, dim=1)
                    return tf.reshard(y, (32 @ t.t, 32), "gmem")

    return Picked


def whole_reads(dtype: str, index: str) -> Module:
    """Reads that are results themselves: rows, columns of a window, and an element for each index."""
    DT, IT = dtype, index

    @module(entry="reads", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class Reads:
        @func
        def reads(
            x: Tensor[(V, M), DT], rows: Tensor[(N,), IT], at: Tensor[(3, M), IT]
        ) -> tuple[Tensor[(N, M), DT], Tensor[(3, M), DT]]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
                return tf.index_select(x, rows, dim=0), tf.reshard(tf.gather(x, at, dim=0), (3, M), "gmem")

    return Reads


def whole_updates(dtype: str, index: str) -> Module:
    """Updated copies that are results themselves, along either axis."""
    DT, IT = dtype, index

    @module(entry="updates", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
    class Updates:
        @func
        def updates(
            x: Tensor[(V, M), DT],
            rows: Tensor[(N,), IT],
            update: Tensor[(N, M), DT],
            at: Tensor[(2, N), IT],
            source: Tensor[(3, N), DT],
            y: Tensor[(2, M), DT],
        ) -> tuple[Tensor[(V, M), DT], Tensor[(V, M), DT], Tensor[(2, M), DT]]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
                return (
                    tf.index_add(x, rows, update, dim=0),
                    tf.index_copy(x, rows, update, dim=0),
                    tf.scatter_add(y, at, source, dim=-1),
                )

    return Updates


@module(entry="columns", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 32)))
class Columns:
    """Rows added to windows of columns, a window for each CTA, into a result with an axis more."""

    @func
    def columns(
        x: Tensor[(V, M), "f32"], rows: Tensor[(N,), "i32"], update: Tensor[(N, M), "f32"]
    ) -> Tensor[(1, V, M), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            out = tf.zeros(Tensor[(1, V, M), "f32"])
            for j in tile(M, 32) @ cta.c:
                out = tf.insert_slice(out, tf.index_add(x[:, j], rows, update[:, j], dim=0), (0, 0, j))
        return out


def fragments(dtype: str, index: str) -> Module:
    """Updates in registers: each thread holds whole columns."""
    DT, IT = dtype, index

    @module(entry="fragments", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Fragments:
        @func
        def fragments(
            x: Tensor[(6, 64), DT], rows: Tensor[(5,), IT], update: Tensor[(5, 64), DT], at: Tensor[(5, 64), IT]
        ) -> tuple[Tensor[(6, 64), DT], Tensor[(6, 64), DT], Tensor[(6, 64), DT]]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                a = tf.reshard(x, (6, 32 @ t.t, 2), "rmem")
                i, u = tf.reshard(rows, (5,), "rmem"), tf.reshard(update, (5, 32 @ t.t, 2), "rmem")
                each = tf.reshard(at, (5, 32 @ t.t, 2), "rmem")
                b = tf.index_add(a, i, u, dim=0)
                c = tf.index_copy(a, i, u, dim=0)
                d = tf.scatter_add(a, each, u, dim=0)
                return (
                    tf.reshard(b, (6, 32 @ t.t, 2), "gmem"),
                    tf.reshard(c, (6, 32 @ t.t, 2), "gmem"),
                    tf.reshard(d, (6, 32 @ t.t, 2), "gmem"),
                )

    return Fragments


@module(entry="tiles", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 64)))
class Tiles:
    """Updates of shared tiles: what one op writes, the next one reads."""

    @func
    def tiles(
        x: Tensor[(M, 8, 16), "bf16"],
        rows: Tensor[(M, 12), "i64"],
        update: Tensor[(M, 12, 16), "bf16"],
        at: Tensor[(M, 8, 5), "i64"],
    ) -> Tensor[(M, 8, 16), "bf16"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8, 8), ("a", "b")) as t:
            out = tf.zeros(Tensor[(M, 8, 16), "bf16"])
            for i in range(M) @ cta.c:
                tile_ = tf.reshard(x[i], (8, 16), "smem")
                which, u = tf.reshard(rows[i], (12,), "smem"), tf.reshard(update[i], (12, 16), "smem")
                added = tf.index_add(tile_, which, u, dim=0)
                each = tf.reshard(at[i], (8, 5), "smem")
                again = tf.scatter_add(added, each, tf.gather(added, each, dim=1), dim=1)
                out = tf.insert_slice(out, tf.reshard(again, (8 @ t.a, 8 @ t.b, 2), "rmem"), (i, 0, 0))
        return out


S = DimVar("S", 0, 1 << 12)


def cache(dtype: str) -> Module:
    """New positions of a cache, of all heads at once."""
    DT = dtype

    @module(entry="cached", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
    class Cached:
        @func
        def cached(
            keys: Tensor[(M, V, 3, 8), DT],
            at: Tensor[(), "i32"],
            count: Tensor[(), "i32"],
            new: Tensor[(M, S, 3, 8), DT],
        ) -> Tensor[(M, V, 3, 8), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (128,), ("t",)) as t:
                return tf.cache_update(keys, at, count, new)

    return Cached


@module(entry="held", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
class HeldCache:
    """A cache in registers and one in shared memory."""

    @func
    def held(
        keys: Tensor[(2, 9, 4, 8), "f32"], at: Tensor[(), "i32"], new: Tensor[(2, 3, 4, 8), "f32"]
    ) -> tuple[Tensor[(2, 9, 4, 8), "f32"], Tensor[(2, 9, 4, 8), "f32"]]:
        with Mesh(("thread",), (4, 8), ("h", "d")) as t:
            a = tf.reshard(keys, (2, 9, 4 @ t.h, 8 @ t.d), "rmem")
            b = tf.cache_update(a, at, 2, tf.reshard(new, (2, 3, 4 @ t.h, 8 @ t.d), "rmem"))
            c = tf.cache_update(tf.reshard(keys, (2, 9, 4, 8), "smem"), at, 3, tf.reshard(new, (2, 3, 4, 8), "smem"))
            return (
                tf.reshard(b, (2, 9, 4 @ t.h, 8 @ t.d), "gmem"),
                tf.reshard(tf.reshard(c, (2, 9, 4 @ t.h, 8 @ t.d), "rmem"), (2, 9, 4 @ t.h, 8 @ t.d), "gmem"),
            )


@module(entry="spread", target=TARGET, topologies=(Topology("cta", 4), Topology("thread", 32)))
class Spread:
    """Rows over CTAs and threads, columns read at indices and sorted: each CTA stages its own rows."""

    @func
    def spread(
        x: Tensor[(32, 40), "f16"], at: Tensor[(40,), "i32"]
    ) -> tuple[Tensor[(32, 40), "f16"], Tensor[(32, 33), "f16"], Tensor[(32, 33), "i64"]]:
        with Mesh(("cta", "thread"), (4, 8, 4), ("c", "r", "l")) as m:
            a = tf.reshard(x, (4 @ m.c, 8 @ m.r, 40), "rmem")
            y = tf.index_select(a, tf.reshard(at, (4 @ m.l, 10), "rmem"), dim=1)
            values, places = tf.topk(a, 33)
            return (
                tf.reshard(y, (4 @ m.c, 8 @ m.r, 4 @ m.l, 10), "gmem"),
                tf.reshard(values, (4 @ m.c, 8 @ m.r, 33), "gmem"),
                tf.reshard(places, (4 @ m.c, 8 @ m.r, 33), "gmem"),
            )


def ordered(rows: int, columns: int, dtype: str) -> Module:
    """Long axes in order, and their running sums, along both axes of a tile."""
    R, C, DT = rows, columns, dtype

    @module(entry="ordered", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 32)))
    class Ordered:
        @func
        def ordered(
            x: Tensor[(R, C), DT],
        ) -> tuple[
            Tensor[(R, C), DT], Tensor[(R, C), "i64"], Tensor[(2, C), DT], Tensor[(2, C), "i64"], Tensor[(R, C), DT]
        ]:
            with Mesh(("thread",), (32,), ("t",)) as m:
                long = tf.reshard(x, (32 @ m.t, R // 32, C), "rmem")
                tall = tf.reshard(x, (R, 32 @ m.t, C // 32), "rmem")
                order, order_at = tf.sort(long, descending=True)
                least, least_at = tf.topk(tall, 2, axis=0, largest=False)
                return (
                    tf.reshard(order, (32 @ m.t, R // 32, C), "gmem"),
                    tf.reshard(order_at, (32 @ m.t, R // 32, C), "gmem"),
                    tf.reshard(least, (2, 32 @ m.t, C // 32), "gmem"),
                    tf.reshard(least_at, (2, 32 @ m.t, C // 32), "gmem"),
                    tf.reshard(tf.cumsum(tall, axis=0), (R, 32 @ m.t, C // 32), "gmem"),
                )

    return Ordered
