# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""What a placement cannot express is refused where it is written, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.compiler.refusing import check_refused
from tilefoundry import DimVar, Mesh, TileFoundryError, Topology, func
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 4), Topology("thread", 32))
M = DimVar("M", 1, 1000)
Build = Callable[[], Module]


def joined_along_a_split_axis() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(32, 8), "f32"]) -> Tensor[(64, 8), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            r = tf.reshard(x, (32 @ t.t, 8), "rmem")
            return tf.reshard(tf.concat(r, r, axis=0), (2, 32 @ t.t, 8), "gmem")

    return f


def run_time_index_of_registers() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(64, 32), "f32"], i: Tensor[(), "i64"]) -> Tensor[(32, 32), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            r = tf.reshard(x, (64, 32 @ m.t), "rmem")
            return tf.reshard(r[i : i + 32, :], (32, 32 @ m.t), "gmem")  # <- here

    return f


def formula_of_a_coordinate_that_threads_reduce() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(32, 64), "f32"]) -> Tensor[(32, 1), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            total = tf.reduce(x * tf.cast(m.t, "f32"), (1,), True, ReduceKind.SUM)
            return tf.reshard(tf.reshard(total, (32 @ m.t, 1), "rmem"), (32 @ m.t, 1), "gmem")  # <- here

    return f


def repeated_across_threads() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(16, 8), "f32"]) -> Tensor[(96, 8), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            r = tf.reshard(tf.repeat_interleave(x, 6, 0), (32 @ t.t, 3, 8), "rmem")  # <- here
            return tf.reshard(r, (32 @ t.t, 3, 8), "gmem")

    return f


def symbolic_part_of_a_tile() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(M, 8), "f32"]) -> Tensor[(2 * M, 8), "f32"]:
        s = tf.reshard(tf.concat(x, x, axis=0), (2 * M, 8), "smem")  # <- here
        return tf.reshard(s, (2 * M, 8), "gmem")

    return f


def counted_otherwise_in_a_result() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(6, 4), "f32"]:
        return tf.reshard(tf.reshape(x, (6, 4)), (6, 4), "gmem")  # <- here

    return f


def scalar_of_a_coordinate() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(32,), "i64"]) -> Tensor[(), "i64"]:
        with Mesh(("cta",), (4,), ("c",)) as c:
            return tf.reshard(tf.rank(x) + c.c, (), "gmem")  # <- here

    return f


def window_of_a_run_time_thread() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(64, 32), "f32"], i: Tensor[(), "i64"]) -> Tensor[(1, 32), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            r = tf.reshard(x[i + m.t : i + m.t + 1, :], (1, 32 @ m.t), "rmem")  # <- here
            return tf.reshard(r, (1, 32 @ m.t), "gmem")

    return f


def window_of_a_thread_of_a_formula() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(32, 40), "f32"]) -> Tensor[(32, 40), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            row = tf.reshard(tf.softmax(x, axis=-1)[m.t, :], (40,), "rmem")  # <- here
            return tf.insert_slice(tf.zeros(Tensor[(32, 40), "f32"]), row, (m.t, 0))

    return f


def one_loop_twice() -> Module:
    @func(target=TARGET, topologies=LEVELS)
    def f(x: Tensor[(M, 32), "f32"]) -> Tensor[(2 * M, 32), "f32"]:
        with Mesh(("cta",), (4,), ("c",)) as c, Mesh(("thread",), (32,), ("t",)) as t:
            y = tf.zeros(Tensor[(M, 32), "f32"])
            for i in tile(M, 4) @ c.c:  # <- here
                y = tf.insert_slice(y, tf.reshard(x[i], (4, 32 @ t.t), "rmem"), (i, 0))
            return tf.concat(y, y, axis=0)

    return f


TABLE: list[tuple[Build, str, str]] = [
    (run_time_index_of_registers, "registers are indexed by numbers that are known when the program", "'smem'"),
    (formula_of_a_coordinate_that_threads_reduce, "threads compute tf.reduce together", "place the operand first"),
    (repeated_across_threads, "has no view of the extents (16, 6, 8)", "in 'smem'"),
    (symbolic_part_of_a_tile, "a shared tile belongs to the whole CTA and has static extents", "'smem'"),
    (counted_otherwise_in_a_result, "that is counted as (6, 4) cannot go straight to", "place it first"),
    (scalar_of_a_coordinate, "is one number, and this one depends on the coordinate along 'c'", "an element for each"),
    (window_of_a_run_time_thread, "starts at the coordinate along 't': each thread would take", "split the axis"),
    (window_of_a_thread_of_a_formula, "starts at the coordinate along 't': each thread would take", "split the axis"),
    (one_loop_twice, "one value that a loop fills is returned twice", "a tf.zeros(...) of its own"),
]


@pytest.mark.parametrize(("build", "words", "remedy"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_refused_with_place_and_remedy(build: Build, words: str, remedy: str) -> None:
    check_refused(build(), words, remedy, __file__)


def test_an_axis_that_is_split_is_not_joined() -> None:
    with pytest.raises(TileFoundryError, match="axis 0 of 'xs\\[0\\]' is split over the mesh and cannot be joined"):
        joined_along_a_split_axis()
