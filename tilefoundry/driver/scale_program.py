"""Two small programs placed over CTAs and threads. For tests."""

from tilefoundry.dsl import DimVar, Mesh, Tensor, Topology, tf, tile
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

N = DimVar("N", 0, 1 << 20)
G = DimVar("G", 1, 1 << 20)


@module(entry="scale", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", G), Topology("thread", 64)))
class Scale:
    """Twice its input, 16 rows for each tile."""

    @func
    def scale(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in tile(N, 16) @ cta.c:
                rows = tf.reshard(x[i], (16, 64 @ t.t), "rmem")
                out = tf.insert_slice(out, rows * 2.0, (i, 0))
            return out


@module(entry="scale", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", G), Topology("thread", 64)))
class ScaleByThree:
    """The same name, another factor."""

    @func
    def scale(x: Tensor[(N, 64), "f32"]) -> Tensor[(N, 64), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (64,), ("t",)) as t:
            out = tf.zeros(Tensor[(N, 64), "f32"])
            for i in tile(N, 16) @ cta.c:
                rows = tf.reshard(x[i], (16, 64 @ t.t), "rmem")
                out = tf.insert_slice(out, rows * 3.0, (i, 0))
            return out
