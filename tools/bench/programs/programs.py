# mypy: ignore-errors
# ruff: noqa: F821, F841
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs as a user would write them for a large GPU."""

from __future__ import annotations

from tilefoundry import DimVar, Mesh, Topology, func, module
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
V, M, N, G, H, W = (DimVar(name, 1, 1 << 24) for name in "VMNGHW")


def index_add(dtype: str) -> Module:
    """Rows added at run-time positions to a copy of a matrix."""
    DT = dtype

    @module(entry="index_add", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 256)))
    class IndexAdd:
        @func
        def index_add(
            x: Tensor[(V, M), DT], rows: Tensor[(N,), "i64"], update: Tensor[(N, M), DT]
        ) -> Tensor[(V, M), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (256,), ("t",)) as t:
                return tf.index_add(x, rows, update, dim=0)

    return IndexAdd


def index_copy(dtype: str) -> Module:
    """Rows written at run-time positions into a copy of a matrix."""
    DT = dtype

    @module(entry="index_copy", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 256)))
    class IndexCopy:
        @func
        def index_copy(
            x: Tensor[(V, M), DT], rows: Tensor[(N,), "i64"], update: Tensor[(N, M), DT]
        ) -> Tensor[(V, M), DT]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (256,), ("t",)) as t:
                return tf.index_copy(x, rows, update, dim=0)

    return IndexCopy


def scatter_add(dim: int) -> Module:
    """Elements added at run-time positions along an axis to a copy of an f32 matrix."""
    DIM = dim

    @module(entry="scatter_add", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 256)))
    class ScatterAdd:
        @func
        def scatter_add(
            x: Tensor[(V, M), "f32"],
            at: Tensor[(N, M) if DIM == 0 else (V, N), "i64"],
            update: Tensor[(N, M) if DIM == 0 else (V, N), "f32"],
        ) -> Tensor[(V, M), "f32"]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (256,), ("t",)) as t:
                return tf.scatter_add(x, at, update, dim=DIM)

    return ScatterAdd


def convolution(channels: int, kernel: int, stride: int) -> Module:
    """A bf16 convolution with as many channels out as in, in tiles of 64 channels and 16 x 16 pixels.

    Registers for two CTAs of an SM suffice, and are worth asking for.
    """
    C, K, S, PADDING = channels, kernel, stride, kernel // 2

    @module(entry="convolution", target=TARGET, topologies=(Topology("cta", G), Topology("thread", 256)))
    class Convolution:
        @func
        def convolution(
            x: Tensor[(N, C, H, W), "bf16"], w: Tensor[(C, C, K, K), "bf16"], b: Tensor[(C,), "bf16"]
        ) -> Tensor[(N, C, (H + 2 * PADDING - K) // S + 1, (W + 2 * PADDING - K) // S + 1), "bf16"]:
            with Mesh(("cta",), (G,), ("c",)) as cta, Mesh(("thread",), (2, 4, 8, 4), ("o", "p", "g", "q")) as t:
                y = tf.conv2d(x, w, b, stride=S, padding=PADDING)
                rows, columns = (H + 2 * PADDING - K) // S + 1, (W + 2 * PADDING - K) // S + 1
                out = tf.zeros(Tensor[(N, C, rows, columns), "bf16"])
                for n in range(N) @ cta.c:
                    for i in tile(rows, 16) @ cta.c:
                        for j in tile(columns, 16) @ cta.c:
                            for o in tile(C, 64) @ cta.c:
                                part = tf.reshard(
                                    y[n, o, i, j], (2 @ t.o, 4, 8 @ t.g, 4 @ t.p, 4, 2, 4 @ t.q, 2), "rmem"
                                )
                                out = tf.insert_slice(out, part, (n, o, i, j))
            return out

    return Convolution
