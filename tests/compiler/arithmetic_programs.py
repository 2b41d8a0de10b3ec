# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs that apply many ops at once: compiling is slow, running is not."""

from __future__ import annotations

from tilefoundry import Broadcast, Layout, Mesh, ShardLayout, Topology, func, module
from tilefoundry.dsl import ConstTensor, ReduceKind, Tensor, tf
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
TOPOLOGIES = (Topology("cta", 1), Topology("thread", 64))


def compositions(dtype: str) -> Module:
    """Ops that stand for several others: softmax and RMS norm along a spread axis, layer norm of rows, activations."""
    DT = dtype
    T = Tensor[(64, 64), DT]

    @module(entry="compositions", target=TARGET, topologies=TOPOLOGIES)
    class Compositions:
        @func
        def compositions(
            x: Tensor[(64, 64), DT], w: ConstTensor[(64,), DT], b: ConstTensor[(64,), "f32"]
        ) -> tuple[T, T, T, T, T, T, T, T]:
            with Mesh(("thread",), (2, 32), ("w", "l")) as t:
                whole = ShardLayout(Layout((64,)), (Broadcast(), Broadcast()), t)
                row = tf.reshard(x, (2 @ t.w, 32 @ t.l, 64), "rmem")
                scale, shift = tf.reshard(w, whole, "rmem"), tf.reshard(b, whole, "rmem")
                norm = tf.layer_norm(row, scale, shift, axis=-1, eps=0.001)
                r = tf.reshard(x, (2 @ t.w, 32, 32 @ t.l, 2), "rmem")
                weights = tf.reshard(w, (32 @ t.l, 2), "rmem")
                return (
                    tf.reshard(tf.softmax(r, axis=-1), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.rms_norm(r, weights), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(norm, (2 @ t.w, 32 @ t.l, 64), "gmem"),
                    tf.reshard(tf.silu(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.gelu(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.gelu(r, approximate="none"), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.softplus(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                    tf.reshard(tf.clamp(r, min_val=-0.5, max_val=0.3), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                )

    return Compositions


F = Tensor[(64, 64), "f32"]


@module(entry="unaries", target=TARGET, topologies=TOPOLOGIES)
class Unaries:
    """Unary ops, and pow, beside those of the other programs; tests of elements choose between numbers."""

    @func
    def unaries(x: F) -> tuple[F, F, F, F, F, F, F, F, F, F, F]:
        with Mesh(("thread",), (2, 32), ("w", "l")) as t:
            r = tf.reshard(x, (2 @ t.w, 32, 32 @ t.l, 2), "rmem")
            n = tf.abs(r)
            return (
                tf.reshard(tf.sin(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.cos(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.erf(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.tanh(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.sigmoid(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.sqrt(n), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.log1p(n), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.floor(r), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.pow(n, 1.5), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.where(tf.isnan(r), 1.0, 0.0 * n), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.where(tf.isinf(r), 1.0, tf.full_like(r, 0.0)), (2 @ t.w, 32, 32 @ t.l, 2), "gmem"),
            )


C = Tensor[(64, 1), "f32"]


@module(entry="reductions", target=TARGET, topologies=TOPOLOGIES)
class Reductions:
    """Reduce kinds besides sum, mean, max and abs_max, within a warp and across warps, with and without the axis."""

    @func
    def reductions(x: Tensor[(64, 64), "f32"]) -> tuple[C, C, Tensor[(1, 64), "bool"], Tensor[(64,), "bool"]]:
        with Mesh(("thread",), (2, 32), ("w", "l")) as t:
            r = tf.reshard(x, (2 @ t.w, 32, 32 @ t.l, 2), "rmem")
            return (
                tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.MIN), (2 @ t.w, 32, 1), "gmem"),
                tf.reshard(tf.reduce(r, (-1,), True, ReduceKind.PROD), (2 @ t.w, 32, 1), "gmem"),
                tf.reshard(tf.reduce(r > 1.0, (0,), True, ReduceKind.ANY), (1, 32 @ t.l, 2), "gmem"),
                tf.reshard(tf.reduce(r > 0.0, (1,), False, ReduceKind.ALL), (2 @ t.w, 32), "gmem"),
            )


PLACES = Tensor[(64,), "i64"]


@module(entry="searches", target=TARGET, topologies=TOPOLOGIES)
class Searches:
    """Where extrema are, the greatest and least few, and running sums, along rows that a thread holds."""

    @func
    def searches(
        x: Tensor[(64, 32), "f32"], y: Tensor[(64, 8), "i32"]
    ) -> tuple[
        PLACES,
        PLACES,
        PLACES,
        Tensor[(64, 4), "f32"],
        Tensor[(64, 4), "i64"],
        Tensor[(64, 3), "f32"],
        Tensor[(64, 3), "i64"],
        Tensor[(64, 8), "i32"],
        Tensor[(64, 8), "i64"],
        Tensor[(64, 8), "i32"],
        Tensor[(64, 8), "bf16"],
    ]:
        with Mesh(("thread",), (64,), ("t",)) as t:
            r = tf.reshard(x, (64 @ t.t, 32), "rmem")
            n = tf.reshard(y, (64 @ t.t, 8), "rmem")
            most, most_at = tf.topk(r, 4)
            least, least_at = tf.topk(r, 3, largest=False)
            order, order_at = tf.sort(n)
            return (
                tf.reshard(tf.argmax(r), (64 @ t.t,), "gmem"),
                tf.reshard(tf.argmin(r, axis=1), (64 @ t.t,), "gmem"),
                tf.reshard(tf.argmax(n), (64 @ t.t,), "gmem"),
                tf.reshard(most, (64 @ t.t, 4), "gmem"),
                tf.reshard(most_at, (64 @ t.t, 4), "gmem"),
                tf.reshard(least, (64 @ t.t, 3), "gmem"),
                tf.reshard(least_at, (64 @ t.t, 3), "gmem"),
                tf.reshard(order, (64 @ t.t, 8), "gmem"),
                tf.reshard(order_at, (64 @ t.t, 8), "gmem"),
                tf.reshard(tf.cumsum(n), (64 @ t.t, 8), "gmem"),
                tf.reshard(tf.cumsum(tf.cast(n, "bf16") * 0.1), (64 @ t.t, 8), "gmem"),
            )


def groups(dtype: str) -> Module:
    """Groups of columns scaled to the range of 8-bit floats; each group is spread over four threads."""
    DT = dtype

    @module(entry="groups", target=TARGET, topologies=TOPOLOGIES)
    class Groups:
        @func
        def groups(x: Tensor[(64, 64), DT]) -> tuple[Tensor[(64, 64), "fp8e4m3"], Tensor[(64, 4), "f32"]]:
            with Mesh(("thread",), (4, 4, 4), ("w", "g", "l")) as t:
                r = tf.reshard(x, (4 @ t.w, 16, 4 @ t.g, 4 @ t.l, 4), "rmem")
                q, scale = tf.quant(r, group=16)
                return (
                    tf.reshard(q, (4 @ t.w, 16, 4 @ t.g, 4 @ t.l, 4), "gmem"),
                    tf.reshard(scale, (4 @ t.w, 16, 4 @ t.g), "gmem"),
                )

    return Groups


@module(entry="edges", target=TARGET, topologies=(Topology("thread", 4),))
class Edges:
    """What casts to fp8 and powers give beyond the usual: each thread holds eight elements, so that loops vectorise."""

    @func
    def edges(
        x: Tensor[(4, 8), "f32"],
    ) -> (Tensor[(4, 8), "fp8e4m3"], Tensor[(4, 8), "fp8e5m2"], Tensor[(4, 8), "f32"]):
        with Mesh(("thread",), (4,), ("t",)) as m:
            a = tf.reshard(x, (4 @ m.t, 8), "rmem")
            return (
                tf.reshard(tf.cast(a, "fp8e4m3"), (4, 8), "gmem"),
                tf.reshard(tf.cast(a, "fp8e5m2"), (4, 8), "gmem"),
                tf.reshard(tf.pow(a, tf.full_like(a, 0.5)), (4, 8), "gmem"),
            )
