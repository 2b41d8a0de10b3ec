"""A program of the consumer's own."""

# mypy: ignore-errors
# A program's annotations are shapes and placements, which are no types to a type checker.

from tilefoundry import func, module
from tilefoundry.dsl import DimVar, Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.target import CpuTarget

N = DimVar("N", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="softmax", target=CpuTarget(), topologies=(Topology("cta", G), Topology("thread", 8)))
class Softmax:
    """Softmax of rows of 64; a CTA takes 8 rows at a time, one to each thread."""

    @func
    def softmax(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (8,), ("t",)) as t:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in tile(N, 8) @ cta.c:
                rows = tf.reshard(x[i], (8 @ t.t, 64), "rmem")
                e = tf.exp(rows - tf.reduce(rows, (-1,), True, ReduceKind.MAX))
                out = tf.insert_slice(out, e / tf.reduce(e, (-1,), True, ReduceKind.SUM), (i, 0))
        return out
