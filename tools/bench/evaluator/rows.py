"""A row reduction on 132 CTAs of 256 threads, which has to be evaluated unit by unit: it reads mesh coordinates."""

# mypy: ignore-errors
# ruff: noqa: F821
# (annotations and bodies of tensor programs are not Python types)

import torch

from tilefoundry import func
from tilefoundry.dsl import Mesh, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.ir import Module

CTAS, THREADS = 132, 256


def rows(size: int) -> Module:
    """The module: each row's sum weighted by the thread that holds an element, and the CTA that computed the row."""

    @func(topologies=(Topology("cta", CTAS), Topology("thread", THREADS)))
    def sums(x: Tensor[(size, size), "f32"]) -> Tensor[(size, 2), "f32"]:
        with Mesh(("cta",), (CTAS,), ("c",)) as c, Mesh(("thread",), (8, 32), ("w", "l")) as m:
            out = tf.zeros(Tensor[(size, 2), "f32"])
            for i in tile(size, 1) @ c.c:
                row = tf.reshard(x[i], (1, size @ (m.w, m.l)), "rmem")
                weighted = row * tf.cast(m.w * 32 + m.l, "f32")
                total = tf.reshard(tf.reduce(weighted, (-1,), True, ReduceKind.SUM), (1, 1), "gmem")
                out = tf.insert_slice(out, total, (i, 0))
                out = tf.insert_slice(out, tf.full_like(total, 0.0) + tf.cast(c.c, "f32"), (i, 1))
            return out

    return sums


def whole(size: int) -> Module:
    """The same sums without a loop: the whole tensor at once, its rows over threads."""

    @func(topologies=(Topology("cta", CTAS), Topology("thread", THREADS)))
    def sums(x: Tensor[(size, size), "f32"]) -> Tensor[(size, 1), "f32"]:
        with Mesh(("thread",), (8, 32), ("w", "l")) as m:
            held = tf.reshard(x, (size, size @ (m.w, m.l)), "rmem")
            weighted = held * tf.cast(m.w * 32 + m.l, "f32")
            return tf.reshard(tf.reduce(weighted, (-1,), True, ReduceKind.SUM), (size, 1), "gmem")

    return sums


def expected(x: torch.Tensor) -> torch.Tensor:
    """Both columns in f64."""
    size = x.shape[0]
    weights = torch.arange(THREADS, dtype=torch.float64).repeat_interleave(size // THREADS)
    return torch.stack((x.double() @ weights, torch.arange(size, dtype=torch.float64) % CTAS), dim=1)
