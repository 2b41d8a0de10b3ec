# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Two kernels over the rows of a matrix, four rows to a CTA and a warp for each: RMSNorm and softmax."""

from tilefoundry.dsl import ConstTensor, DimVar, Mesh, Tensor, Topology, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

COLUMNS = 256
N = DimVar("N", 1, 1 << 20)
G = DimVar("G", 1, 1 << 20)
LEVELS = (Topology("cta", G), Topology("thread", 128))


@module(entry="rows", target=CudaTarget("nvidia.h200_sxm"), topologies=LEVELS)
class RmsNorm:
    """Each row divided by its root mean square, times a weight."""

    @func
    def rows(x: Tensor[(N, COLUMNS), "f32"], weight: ConstTensor[(COLUMNS,), "f32"]) -> Tensor[(N, COLUMNS), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            w = tf.reshard(weight, (32 @ t.l, COLUMNS // 32), "rmem")
            y = tf.zeros(Tensor[(N, COLUMNS), "f32"])
            for i in tile(N, 4) @ cta.c:
                r = tf.reshard(x[i, :], (4 @ t.w, 32 @ t.l, COLUMNS // 32), "rmem")
                y = tf.insert_slice(y, tf.rms_norm(r, w, eps=1e-6), (i, 0))
            return y


@module(entry="rows", target=CudaTarget("nvidia.h200_sxm"), topologies=LEVELS)
class Softmax:
    """The softmax of each row."""

    @func
    def rows(x: Tensor[(N, COLUMNS), "f32"]) -> Tensor[(N, COLUMNS), "f32"]:
        with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:
            y = tf.zeros(Tensor[(N, COLUMNS), "f32"])
            for i in tile(N, 4) @ cta.c:
                r = tf.reshard(x[i, :], (4 @ t.w, 32 @ t.l, COLUMNS // 32), "rmem")
                y = tf.insert_slice(y, tf.softmax(r, axis=-1), (i, 0))
            return y


# Under the names that the library gives them.
KERNELS: dict[str, Module] = {"rms_norm": RmsNorm, "softmax": Softmax}
