# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placements that cannot be compiled are refused where they are written, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.compiler.refusing import check_refused
from tilefoundry import Broadcast, DimVar, Layout, Mesh, ShardLayout, TileFoundryError, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 4), Topology("thread", 32))
M = DimVar("M", 1, 1000)
Build = Callable[[], Module]


def carried_in_shared() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(32, 8), "f32"]:
            y = tf.reshard(x, (32, 8), "smem")  # <- here
            for _i in range(3):
                y = y + y
            return tf.reshard(y, (32, 8), "gmem")

    return P


def product_of_batches() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(2, 32, 32), "f32"]) -> Tensor[(2, 32, 32), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                s = tf.reshard(x, (2, 32, 32), "smem")
                p = tf.matmul(s, s)  # <- here
                return tf.reshard(tf.reshard(p, (2, 32 @ t.t, 32), "rmem"), (2, 32 @ t.t, 32), "gmem")

    return P


def symbolic_tile() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(M, 32), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                r = tf.reshard(x, (M, 32 @ t.t), "rmem")  # <- here
                return tf.reshard(r, (M, 32 @ t.t), "gmem")

    return P


def uncovered_rows() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(M, 32), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(M, 32), "f32"])
                for i in tile(M - 1, 8) @ cta.c:  # <- here
                    y = tf.insert_slice(y, tf.reshard(x[i], (8, 32 @ t.t), "rmem"), (i, 0))
            return y

    return P


def half_a_row() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(M, 64), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(M, 64), "f32"])
                for i in tile(M, 8) @ cta.c:  # <- here
                    y = tf.insert_slice(y, tf.reshard(x[i], (8, 32 @ t.t), "rmem"), (i, 0))
            return y

    return P


def factors_that_differ() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(64, 8), "f32"]) -> Tensor[(64, 8), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as c:
                a = tf.reshard(x, (16, 4 @ c.c, 8), "rmem")
                b = tf.reshard(a, (4 @ c.c, 16, 8), "rmem")  # <- here
                return tf.reshard(b, (4 @ c.c, 16, 8), "gmem")

    return P


def global_intermediate() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(32, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                g = tf.reshard(tf.reshard(x, (32 @ t.t, 8), "rmem"), (32 @ t.t, 8), "gmem")  # <- here
                return tf.reshard(tf.reshard(g, (32 @ t.t, 8), "rmem"), (32 @ t.t, 8), "gmem")

    return P


def result_in_registers() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(32, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                return tf.reshard(x, (32 @ t.t, 8), "rmem")  # <- here

    return P


def window_that_may_leave() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(32,), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                s = tf.reshard(tf.zeros(Tensor[(32,), "f32"]), (32 @ t.t,), "rmem")
                for i in range(0, M, 1):
                    s = s + tf.reshard(x[i + 1], (32 @ t.t,), "rmem")  # <- here
                return tf.reshard(s, (32 @ t.t,), "gmem")

    return P


def lanes_of_seven() -> Module:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 1), Topology("thread", 21)))
    class P:
        @func
        def f(x: Tensor[(3, 14), "f32"]) -> Tensor[(3, 1), "f32"]:
            with Mesh(("thread",), (3, 7), ("a", "b")) as t:
                r = tf.reshard(x, (3 @ t.a, 7 @ t.b, 2), "rmem")
                s = tf.reduce(r, (-1,), True, ReduceKind.SUM)  # <- here
                return tf.reshard(s, (3 @ t.a, 1), "gmem")

    return P


def sum_over_ctas() -> Module:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 4),))
    class P:
        @func
        def f(x: Tensor[(4, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as t:
                r = tf.reshard(x, (4 @ t.c, 8), "rmem")
                s = tf.reduce(r, (0,), True, ReduceKind.SUM)  # <- here
                return tf.reshard(s, (1, 8), "gmem")

    return P


def inner_loop_that_may_not_run() -> Module:
    L = DimVar("L", 0, 100)

    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"], z: Tensor[(L, 32), "f32"]) -> Tensor[(M, 32), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(M, 32), "f32"])
                for i in range(M) @ cta.c:  # <- here
                    for k in range(L):
                        y = tf.insert_slice(y, tf.reshard(z[k], (32 @ t.t,), "rmem"), (i, 0))
            return y

    return P


def one_window_for_all_ctas() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(32,), "f32"]:
            with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(32,), "f32"])
                for i in range(M) @ cta.c:
                    y = tf.insert_slice(y, tf.reshard(x[i], (32 @ t.t,), "rmem"), (0,))  # <- here
            return y

    return P


def spread_over_threads() -> Module:
    @module(entry="f", target=TARGET, topologies=(Topology("cta", 4), Topology("thread", 128)))
    class P:
        @func
        def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(M, 32), "f32"]:
            with Mesh(("thread",), (4, 32), ("w", "t")) as t:
                y = tf.zeros(Tensor[(M, 32), "f32"])
                for i in range(M) @ t.w:  # <- here
                    y = tf.insert_slice(y, tf.reshard(x[i], (32 @ t.t,), "rmem"), (i, 0))
            return y

    return P


def attention_of_registers() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(1, 32, 8, 8), "f32"]) -> Tensor[(1, 32, 8, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                r = tf.reshard(x, (1, 32 @ t.t, 8, 8), "rmem")
                s = tf.attention(r, r, r)  # <- here
                return tf.reshard(s, (1, 32 @ t.t, 8, 8), "gmem")

    return P


def two_loops() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(64, 32), "f32"]) -> Tensor[(64, 32), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(64, 32), "f32"])
                for i in tile(32, 4):
                    y = tf.insert_slice(y, tf.reshard(x[i], (4, 32 @ t.t), "rmem"), (i, 0))
                for j in tile(32, 4):  # <- here
                    y = tf.insert_slice(y, tf.reshard(x[j + 32], (4, 32 @ t.t), "rmem"), (j + 32, 0))
            return y

    return P


def own_values_in_shared() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(32, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                s = tf.reshard(x, (32, 8), "smem")
                y = s * tf.cast(t.t, "f32")  # <- here
                return tf.reshard(y, (32, 8), "gmem")

    return P


def replicated_beside_split() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(64,), "f32"]) -> Tensor[(64,), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                r = tf.reshard(x, (32 @ t.t, 2), "rmem")
                whole = tf.reshard(x, ShardLayout(Layout((64,)), (Broadcast(),), t), "rmem")
                y = r + whole  # <- here
                return tf.reshard(y, (32 @ t.t, 2), "gmem")

    return P


def as_many_of_the_greatest_as_a_call_says() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 64), "f32"], n: Tensor[(M,), "f32"]) -> Tensor[(32, M), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                values, _ = tf.topk(tf.reshard(x, (32 @ t.t, 64), "rmem"), M)  # <- here
                return tf.reshard(values, (32 @ t.t, M), "gmem")

    return P


def half_bytes() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(32, 8), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                r = tf.reshard(x, (32 @ t.t, 8), "rmem")
                q = tf.cast(r, "f4e2m1")  # <- here
                return tf.reshard(tf.cast(q, "f32"), (32 @ t.t, 8), "gmem")

    return P


def product_of_a_split_axis() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(a: Tensor[(4, 64), "f32"], b: Tensor[(64, 4), "f32"]) -> Tensor[(4, 4), "f32"]:
            with Mesh(("cta", "thread"), (4, 32), ("c", "t")) as m:
                x, y = tf.reshard(a, (4, 4 @ m.c, 16), "rmem"), tf.reshard(b, (4 @ m.c, 16, 4), "rmem")
                return tf.reshard(x @ y, (4, 4), "gmem")  # <- here

    return P


def packed_parameter() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 8), "f32"], s: Tensor[(8,), "f4e2m1"]) -> Tensor[(32, 8), "f32"]:  # <- here
            with Mesh(("thread",), (32,), ("t",)) as t:
                return tf.reshard(tf.reshard(x, (32 @ t.t, 8), "rmem"), (32 @ t.t, 8), "gmem")

    return P


def filled_and_read() -> Module:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(8, 64), "f32"]) -> tuple[Tensor[(8, 64), "f32"], Tensor[(8, 64), "f32"]]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                y = tf.zeros(Tensor[(8, 64), "f32"])
                for i in range(8):  # <- here
                    y = tf.insert_slice(y, tf.reshard(x[i : i + 1], (1, 64 @ t.t), "rmem"), (i, 0))
                again = tf.reshard(y, (8, 64 @ t.t), "rmem")
                return y, tf.reshard(again * 2.0, (8, 64 @ t.t), "gmem")

    return P


TABLE: list[tuple[Build, str, str]] = [
    (half_bytes, "elements of f4e2m1 take half a byte", "as fp8e4m3"),
    (product_of_a_split_axis, "the reduced axis is spread over 4 CTAs", "spread it over threads"),
    (packed_parameter, "elements of f4e2m1 take half a byte", "as fp8e4m3"),
    (as_many_of_the_greatest_as_a_call_says, "a positive k that is known when the program is written", "as a number"),
    (replicated_beside_split, "cannot be read element by element", "the same factors"),
    (attention_of_registers, "tf.attention of tiles in rmem", "leave q, k and v in global memory"),
    (own_values_in_shared, "each has a value of its own", "let them agree on the operand"),
    (carried_in_shared, "expected a value in registers, got a value in smem", "tf.reshard(x, <layout"),
    (product_of_batches, "takes two tiles of rank 2", "for b in range"),
    (symbolic_tile, "a tile has static extents", "for i in tile(extent, step)"),
    (uncovered_rows, "cannot prove that the loop writes every element of 'y' on axis 0", "from 0 to its extent"),
    (
        filled_and_read,
        "'y', which a loop fills in global memory, is read in the same kernel",
        "carry what is read again",
    ),
    (two_loops, "a second loop goes on filling what a loop before it has filled", "in one loop"),
    (half_a_row, "cannot prove that the loop writes every element of 'y' on axis 1", "from 0 to its extent"),
    (factors_that_differ, "directly", "go through shared memory"),
    (global_intermediate, "as the result of a function, not as an intermediate value", "keep the value in"),
    (result_in_registers, "a result lies in global memory, got rmem", "'gmem'"),
    (inner_loop_that_may_not_run, "when the loop over 'k' does not run", "a DimVar that starts at 1"),
    (one_window_for_all_ctas, "iterations over 'i' are spread over CTAs and may write the same", "insert at 'i'"),
    (spread_over_threads, "can be spread over CTAs, not over the thread level", "cta mesh"),
    (lanes_of_seven, "spread over 7 threads at a distance of 1", "powers of two"),
    (sum_over_ctas, "spread over 4 CTAs, which cannot exchange values", "spread it over threads"),
    (window_that_may_leave, "cannot prove that the window of 1 at i + 1 stays inside axis 0", "tile(extent, step)"),
]


@pytest.mark.parametrize(("build", "words", "remedy"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_refused_with_place_and_remedy(build: Build, words: str, remedy: str) -> None:
    check_refused(build(), words, remedy, __file__)


def test_tiles_beyond_shared_memory() -> None:
    @module(entry="f", target=TARGET, topologies=LEVELS)
    class P:
        @func
        def f(x: Tensor[(32, 4096), "f32"]) -> Tensor[(32, 4096), "f32"]:
            with Mesh(("thread",), (32,), ("t",)) as t:
                s = tf.reshard(x, (32, 4096), "smem")
                return tf.reshard(tf.reshard(s, (32 @ t.t, 4096), "rmem"), (32 @ t.t, 4096), "gmem")

    with pytest.raises(TileFoundryError, match="take 524.* bytes of shared memory, and a CTA .* has 232448"):
        lower(P)
