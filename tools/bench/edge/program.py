# mypy: ignore-errors
# ruff: noqa: F821
# (annotations and bodies of tensor programs are not Python types)
"""A kernel that does next to nothing, so that a call of it is all edge."""

from tilefoundry import module
from tilefoundry.dsl import DimVar, Mesh, Tensor, Topology, tf, tile
from tilefoundry.ir import Module
from tilefoundry.python import func
from tilefoundry.target import CudaTarget

ROWS = DimVar("ROWS", 0, 1 << 20)
CTAS = DimVar("CTAS", 1, 1 << 16)


def added() -> Module:
    """x + y of (ROWS, 64) matrices, 16 rows for each tile."""

    @module(
        entry="added",
        target=CudaTarget("nvidia.h200_sxm"),
        topologies=(Topology("cta", CTAS), Topology("thread", 64)),
    )
    class Added:
        @func
        def added(x: Tensor[(ROWS, 64), "f32"], y: Tensor[(ROWS, 64), "f32"]) -> Tensor[(ROWS, 64), "f32"]:
            with Mesh(("cta",), (CTAS,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
                out = tf.zeros(Tensor[(ROWS, 64), "f32"])
                for i in tile(ROWS, 16) @ cta.c:
                    rows = tf.reshard(x[i], (16, 64 @ t.t), "rmem") + tf.reshard(y[i], (16, 64 @ t.t), "rmem")
                    out = tf.insert_slice(out, rows, (i, 0))
                return out

    return Added
