# mypy: ignore-errors
# ruff: noqa: F821
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Placed programs of f8e8m0, the format of the scales of block-scaled tensors: casts, arithmetic, moves."""

from __future__ import annotations

from tilefoundry import Mesh, Topology, func, module
from tilefoundry.dsl import ReduceKind, Tensor, tf
from tilefoundry.ir.core.module import Module
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("thread", 128),)
COUNT = 1 << 16


GRID = (Topology("cta", 64), *LEVELS)


@module(entry="rounded", target=TARGET, topologies=GRID)
class Rounded:
    """Casts from f32, eight elements to a thread."""

    @func
    def rounded(x: Tensor[(COUNT,), "f32"]) -> Tensor[(COUNT,), "f8e8m0"]:
        with Mesh(("cta", "thread"), (64, 128), ("c", "t")) as m:
            r = tf.reshard(x, (64 @ m.c, 128 @ m.t, 8), "rmem")
            return tf.reshard(tf.cast(r, "f8e8m0"), (64 @ m.c, 128 @ m.t, 8), "gmem")


OTHERS = ("f64", "f16", "bf16", "fp8e4m3", "fp8e5m2", "i64", "i32", "i16", "i8", "u8", "bool")
WIDE = tuple[tuple(Tensor[(1024,), dtype] for dtype in OTHERS)]


@module(entry="widened", target=TARGET, topologies=LEVELS)
class Widened:
    """Casts to every other type."""

    @func
    def widened(x: Tensor[(1024,), "f8e8m0"]) -> WIDE:
        with Mesh(("thread",), (128,), ("t",)) as m:
            r = tf.reshard(x, (128 @ m.t, 8), "rmem")
            return (
                tf.reshard(tf.cast(r, "f64"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "f16"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "bf16"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "fp8e4m3"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "fp8e5m2"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "i64"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "i32"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "i16"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "i8"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "u8"), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.cast(r, "bool"), (128 @ m.t, 8), "gmem"),
            )


def narrowed(dtype: str) -> Module:
    """Casts from another type."""

    @module(entry="narrowed", target=TARGET, topologies=GRID)
    class Narrowed:
        @func
        def narrowed(x: Tensor[(COUNT,), dtype]) -> Tensor[(COUNT,), "f8e8m0"]:
            with Mesh(("cta", "thread"), (64, 128), ("c", "t")) as m:
                r = tf.reshard(x, (64 @ m.c, 128 @ m.t, 8), "rmem")
                return tf.reshard(tf.cast(r, "f8e8m0"), (64 @ m.c, 128 @ m.t, 8), "gmem")

    return Narrowed


@module(entry="scaled", target=TARGET, topologies=LEVELS)
class Scaled:
    """Blocks of 32 fp8 elements with a scale each, as numbers."""

    @func
    def scaled(x: Tensor[(128, 64), "fp8e4m3"], scale: Tensor[(128, 2), "f8e8m0"]) -> Tensor[(128, 64), "bf16"]:
        with Mesh(("thread",), (128,), ("t",)) as m:
            values = tf.cast(tf.reshard(x, (128 @ m.t, 64), "rmem"), "f32")
            scales = tf.repeat_interleave(tf.reshard(scale, (128, 2), "smem"), 32, 1)
            each = tf.cast(tf.reshard(scales, (128 @ m.t, 64), "rmem"), "f32")
            return tf.reshard(tf.cast(values * each, "bf16"), (128 @ m.t, 64), "gmem")


_SHAPES = (
    (128, 12), (128, 8), (128, 6), (6, 128), (64, 12), (128, 6), (128, 6), (128, 6), (128, 6), (256, 6), (4, 6),
)  # fmt: skip
MOVED = tuple[tuple(Tensor[shape, "f8e8m0"] for shape in _SHAPES)]


@module(entry="moved", target=TARGET, topologies=LEVELS)
class Moved:
    """Moves of elements, which keep their bits."""

    @func
    def moved(x: Tensor[(128, 6), "f8e8m0"], y: Tensor[(128, 6), "f8e8m0"], rows: Tensor[(4,), "i32"]) -> MOVED:
        with Mesh(("thread",), (128,), ("t",)) as m:
            a, b = tf.reshard(x, (128 @ m.t, 6), "rmem"), tf.reshard(y, (128 @ m.t, 6), "rmem")
            s = tf.reshard(x, (128, 6), "smem")
            return (
                tf.reshard(tf.concat(a, b, axis=1), (128 @ m.t, 12), "gmem"),
                tf.reshard(tf.pad(a, pad=(1, 1), value=0.5), (128 @ m.t, 8), "gmem"),
                tf.reshard(tf.where(tf.cmp_lt(a, b), a, b), (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.transpose(a, perm=(1, 0)), (6, 128 @ m.t), "gmem"),
                tf.reshard(tf.reshape(s, (64, 12)), (64, 12), "gmem"),
                tf.reshard(tf.flip(a, axes=1), (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.insert_slice(a, b[:, 1:3], (0, 4)), (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.full_like(a, 4.0), (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.sort(a, axis=1)[0], (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.repeat_interleave(s, 2, 0), (256, 6), "gmem"),
                tf.index_select(x, rows, dim=0),
            )


@module(entry="computed", target=TARGET, topologies=LEVELS)
class Computed:
    """Arithmetic, in f32 and rounded once; what compares elements and what reduces them."""

    @func
    def computed(
        x: Tensor[(128, 6), "f8e8m0"], y: Tensor[(128, 6), "f8e8m0"]
    ) -> (
        Tensor[(128, 6), "f8e8m0"],
        Tensor[(128, 6), "f8e8m0"],
        Tensor[(128, 6), "f8e8m0"],
        Tensor[(128, 6), "f8e8m0"],
        Tensor[(128, 6), "bool"],
        Tensor[(128, 1), "f8e8m0"],
        Tensor[(1, 6), "f8e8m0"],
        Tensor[(128,), "i64"],
    ):
        with Mesh(("thread",), (128,), ("t",)) as m:
            a, b = tf.reshard(x, (128 @ m.t, 6), "rmem"), tf.reshard(y, (128 @ m.t, 6), "rmem")
            return (
                tf.reshard(a * b, (128 @ m.t, 6), "gmem"),
                tf.reshard(a - b, (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.clamp(a, min_val=0.5, max_val=3.0), (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.sqrt(-a), (128 @ m.t, 6), "gmem"),
                tf.reshard(a == b, (128 @ m.t, 6), "gmem"),
                tf.reshard(tf.reduce(a, (1,), True, ReduceKind.SUM), (128 @ m.t, 1), "gmem"),
                tf.reshard(tf.reduce(a, (0,), True, ReduceKind.MAX), (1, 6), "gmem"),
                tf.reshard(tf.argmax(a, axis=1), (128 @ m.t,), "gmem"),
            )
