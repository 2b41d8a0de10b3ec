# mypy: ignore-errors
# ruff: noqa: F821
# The body below is the tensor language: its names and annotations mean nothing to Python's type system.
"""A small product whose operands a loop stages through shared memory. For tests of tuning."""

from tilefoundry.dsl import Mesh, Tensor, Topology, tf, tile
from tilefoundry.python import func, module
from tilefoundry.target import CudaTarget

DEPTH = 64  # columns of a tile; two tiles of f32 take 16 KiB


@module(entry="matmul", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 64),))
class MATMUL:
    """(32, 256) by (256, 32) in f32, by 64 threads of one CTA."""

    @func
    def matmul(a: Tensor[(32, 256), "f32"], b: Tensor[(256, 32), "f32"]) -> Tensor[(32, 32), "f32"]:
        with Mesh(("thread",), (2, 8, 4), ("w", "g", "t")) as t:
            acc = tf.reshard(tf.zeros(Tensor[(32, 32), "f32"]), (2 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
            for k in tile(256, DEPTH):
                at = tf.reshard(a[:, k], (32, DEPTH), "smem")
                bt = tf.reshard(b[k, :], (DEPTH, 32), "smem")
                acc = acc + tf.reshard(tf.matmul(at, bt), (2 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem")
            return tf.reshard(acc, (32, 32), "gmem")
