# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Reads and writes at run-time indices that cannot be compiled are refused where they are written."""

from __future__ import annotations

import pytest

from tests.compiler.refusing import check_refused
from tilefoundry import DimVar, Mesh, Topology, func
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core import Function
from tilefoundry.target import CudaTarget

LEVELS = (Topology("cta", 6), Topology("thread", 32))
N = DimVar("N", 1, 1 << 20)
placed = func(topologies=LEVELS, target=CudaTarget("nvidia.h200_sxm"))


@placed
def an_intermediate_value(
    x: Tensor[(8, 32), "f32"], i: Tensor[(5,), "i64"], u: Tensor[(5, 32), "f32"]
) -> Tensor[(8, 32), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        y = tf.index_add(x, i, u, dim=0)  # <- here
        return tf.reshard(tf.reshard(y, (8, 32 @ t.t), "rmem"), (8, 32 @ t.t), "gmem")


@placed
def along_a_spread_axis(x: Tensor[(32, 8), "f32"], i: Tensor[(5,), "i64"]) -> Tensor[(5, 8), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        y = tf.index_select(tf.reshard(x, (32 @ t.t, 8), "rmem"), tf.reshard(i, (5,), "rmem"), dim=0)  # <- here
        return tf.reshard(y, (5, 8), "gmem")


@placed
def too_many_comparisons(
    x: Tensor[(64, 32), "f32"], i: Tensor[(65,), "i64"], u: Tensor[(65, 32), "f32"]
) -> Tensor[(64, 32), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        a, b = tf.reshard(x, (64, 32 @ t.t), "rmem"), tf.reshard(u, (65, 32 @ t.t), "rmem")
        y = tf.index_copy(a, tf.reshard(i, (65,), "rmem"), b, dim=0)  # <- here
        return tf.reshard(y, (64, 32 @ t.t), "gmem")


@placed
def elements_without_an_index(
    x: Tensor[(8, 32), "f32"], i: Tensor[(3, 32), "i64"], u: Tensor[(5, 32), "f32"]
) -> Tensor[(8, 32), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        a, b = tf.reshard(x, (8, 32 @ t.t), "rmem"), tf.reshard(u, (5, 32 @ t.t), "rmem")
        y = tf.scatter_add(a, tf.reshard(i, (3, 32 @ t.t), "rmem"), b, dim=0)  # <- here
        return tf.reshard(y, (8, 32 @ t.t), "gmem")


@placed
def other_factors(
    x: Tensor[(8, 128), "f32"], i: Tensor[(5,), "i64"], u: Tensor[(5, 128), "f32"]
) -> Tensor[(8, 128), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        a, b = tf.reshard(x, (8, 32 @ t.t, 4), "rmem"), tf.reshard(u, (5, 32 @ t.t, 2, 2), "rmem")
        y = tf.index_add(a, tf.reshard(i, (5,), "rmem"), b, dim=0)  # <- here
        return tf.reshard(y, (8, 32 @ t.t, 4), "gmem")


@placed
def an_index_that_lies_nowhere(x: Tensor[(8, 32), "f32"]) -> Tensor[(5, 32), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        y = tf.index_select(x, tf.arange(Tensor[(5,), "i64"]), dim=0)  # <- here
        return tf.reshard(tf.reshard(y, (5, 32 @ t.t), "rmem"), (5, 32 @ t.t), "gmem")


@placed
def a_tile_of_any_extent(x: Tensor[(8, 32), "f32"], i: Tensor[(N,), "i64"]) -> Tensor[(N, 32), "f32"]:
    with Mesh(("thread",), (32,), ("t",)) as t:
        y = tf.index_select(x, i, dim=0)
        z = tf.reshard(y, (N, 32 @ t.t), "rmem")  # <- here
        return tf.reshard(z, (N, 32 @ t.t), "gmem")


@placed
def ctas_that_would_write_the_same(
    x: Tensor[(8, N), "f32"], i: Tensor[(5,), "i64"], u: Tensor[(5, N), "f32"]
) -> Tensor[(8, N), "f32"]:
    with Mesh(("cta",), (2, 3), ("a", "b")) as cta:
        out = tf.zeros(Tensor[(8, N), "f32"])
        for j in tile(N, 32) @ cta.a:
            out = tf.insert_slice(out, tf.index_add(x[:, j], i, u[:, j], dim=0), (0, j))  # <- here
        return out


TABLE: list[tuple[Function, str, str]] = [
    (an_intermediate_value, "not as an intermediate value", "tf.insert_slice(out, <it>, offsets)"),
    (along_a_spread_axis, "axis 0 of 'x' is spread over instances", "holds the whole axis"),
    (too_many_comparisons, "would compare 4160 pairs of rows, and at most 4096", "'smem'"),
    (elements_without_an_index, "each element of 'src' has an index", "slice 'src'"),
    (other_factors, "would hold different columns along axis 0", "the same factors"),
    (an_index_that_lies_nowhere, "expected 'index' as a global tensor", "pass it as a parameter"),
    (a_tile_of_any_extent, "a tile has static extents, got (N, 32)", "for i in tile(extent, step)"),
    (ctas_that_would_write_the_same, "differ along 'b' only", "every axis of the cta mesh"),
]


@pytest.mark.parametrize(("program", "words", "remedy"), TABLE, ids=[row[0].name for row in TABLE])
def test_refused_with_place_and_remedy(program: Function, words: str, remedy: str) -> None:
    check_refused(program, words, remedy, __file__)
