# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs that take parts and views of tensors, and repeat them."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf, tile
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
M = DimVar("M", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="halves", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
class Halves:
    """Halves of rows, cut by tf.split: the second one negated, and the first one as often as it has axes."""

    @func
    def halves(x: Tensor[(M, 64), "f32"]) -> tuple[Tensor[(M, 32), "f32"], Tensor[(M, 32), "f32"]]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            y, z = tf.zeros(Tensor[(M, 32), "f32"]), tf.zeros(Tensor[(M, 32), "f32"])
            for i in tile(M, 4) @ cta.c:
                a, b = tf.split(x[i, :], axis=1, num_splits=2)
                first = tf.reshard(a, (4 @ t.w, 32 @ t.l), "rmem")
                second = tf.reshard(b, (4 @ t.w, 32 @ t.l), "rmem")
                y = tf.insert_slice(y, -second, (i, 0))
                z = tf.insert_slice(z, first * tf.cast(tf.rank(first), "f32"), (i, 0))
        return y, z


@module(entry="centred", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 128)))
class Centred:
    """Rows less their sums, and these sums in every column: squeezed, unsqueezed, expanded, and cut by a reshape."""

    @func
    def centred(x: Tensor[(M, 64), "f32"]) -> tuple[Tensor[(M, 64), "f32"], Tensor[(M, 64), "f32"]]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            y, z = tf.zeros(Tensor[(M, 64), "f32"]), tf.zeros(Tensor[(M, 64), "f32"])
            for i in tile(M, 4) @ cta.c:
                r = tf.reshard(x[i, :], (4 @ t.w, 32 @ t.l, 2), "rmem")
                total = tf.squeeze(tf.reduce(r, (-1,), True, ReduceKind.SUM), -1)
                column = tf.unsqueeze(total, 1)
                pairs = tf.reshape(r - column, (4, 32, 2))
                y = tf.insert_slice(y, tf.reshape(pairs * 2.0, (4, -1)), (i, 0))
                z = tf.insert_slice(z, tf.expand(column, (4, 64)), (i, 0))
        return y, z
