# mypy: ignore-errors
# ruff: noqa: F821
# The body below is the tensor language: its names and annotations mean nothing to Python's type system.
"""Two small programs of one name, placed over CTAs and threads. For tests."""

from tilefoundry.dsl import DimVar, Mesh, Tensor, Topology, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

N = DimVar("N", 0, 1 << 20)
G = DimVar("G", 1, 1 << 20)


def scale_module(factor: float) -> Module:
    """The module whose entry `scale(x)` is ``factor * x`` for x of shape (N, 64); 16 rows for each tile."""

    @module(
        entry="scale", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", G), Topology("thread", 64))
    )
    class Scale:
        @func
        def scale(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
                out = tf.zeros(Tensor[(N, 64), "f32"])
                for i in tile(N, 16) @ cta.c:
                    rows = tf.reshard(x[i], (16, 64 @ t.t), "rmem")
                    out = tf.insert_slice(out, rows * factor, (i, 0))
                return out

    return Scale


TWICE = scale_module(2.0)
THRICE = scale_module(3.0)
