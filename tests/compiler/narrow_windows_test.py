# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""A window of a window reads zero beyond the window that it is cut from, whatever its tensor holds there."""

from __future__ import annotations

import torch

from tests.compiler.running import compare
from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.runtime import Equal
from tilefoundry.target import CudaTarget

N = DimVar("N", 12, 100)


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 2), Topology("thread", 32)))
class Sums:
    @func
    def f(x: Tensor[(N, 40), "f32"]) -> tuple[Tensor[(1, 32), "f32"], Tensor[(1, 32), "f32"]]:
        with Mesh(("thread",), (32,), ("t",)) as t:
            zero = tf.reshard(tf.zeros(Tensor[(1, 32), "f32"]), (1, 32 @ t.t), "rmem")
            part = x[2:12, 4:36]
            a = zero
            for i in tile(10, 4):  # the last tile hangs over the part, not over x
                rows = tf.reshard(part[i], (4, 32 @ t.t), "rmem")
                a = a + tf.reduce(rows, (0,), True, ReduceKind.SUM)
            b = zero
            for j in tile(10, 4):
                staged = tf.reshard(part[j, 8:32], (4, 24), "smem")
                wide = tf.pad(staged, (0, 8))
                b = b + tf.reduce(tf.reshard(wide, (4, 32 @ t.t), "rmem"), (0,), True, ReduceKind.SUM)
            return tf.reshard(a, (1, 32), "gmem"), tf.reshard(b, (1, 32), "gmem")


def test_windows_end_where_the_window_ends_that_they_are_cut_from() -> None:
    for rows in (12, 13, 40):
        compare(Sums, torch.arange(40.0 * rows).reshape(rows, 40), bounds=[Equal()])
