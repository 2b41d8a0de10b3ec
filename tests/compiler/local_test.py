# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Values of which each unit has its own part, `tf.local`: computed with, and written at places of their own."""

from __future__ import annotations

import pytest
import torch

from tests.compiler.running import compare
from tilefoundry import Mesh, Topology, func
from tilefoundry.dsl import ReduceKind, Tensor, tf
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import AllClose
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 3), Topology("thread", 8))
WARP = (Topology("cta", 1), Topology("thread", 32))
BOTH = (Topology("cta", 6), Topology("thread", 32))


@func(topologies=LEVELS, target=TARGET)
def parts(
    x: Tensor[(8, 6), "f32"], a: Tensor[(2, 12), "f32"], b: Tensor[(12, 2), "f32"], y: Tensor[(24, 6), "f32"]
) -> tuple[Tensor[(8, 6), "f32"], Tensor[(4, 2, 2), "f32"], Tensor[(6, 2), "f32"], Tensor[(24, 6), "f32"]]:
    """Rows reduced by their owner; the terms of a product; windows that a mesh of CTAs and one of threads place;
    windows between which the tensor stays as it is, and one over these."""
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:
        part = tf.local(tf.reshard(x, (8 @ m.w, 6), "rmem"))
        less = part - tf.reduce(part, (0, 1), True, ReduceKind.MAX)
        terms = tf.reshard(a, (2, 12 @ m.w), "rmem") @ tf.reshard(b, (12 @ m.w, 2), "rmem")
        total = tf.local(tf.reduce(tf.reshard(x[0:6, :], (6 @ c.c, 6), "rmem"), (1,), True, ReduceKind.SUM))
        both = tf.where(m.l == 0, total, -total)
        over = tf.insert_slice(y, part[0:1, :] + tf.cast(c.c, "f32"), (c.c * 8 + m.w * 2 + (c.c + m.w) % 2, 0))
        return (
            tf.insert_slice(tf.zeros(Tensor[(8, 6), "f32"]), less, (m.w * 2, 0)),
            tf.insert_slice(tf.zeros(Tensor[(4, 2, 2), "f32"]), tf.local(terms), (m.w, 0, 0)),
            tf.insert_slice(tf.zeros(Tensor[(6, 2), "f32"]), both, (c.c * 2, m.l)),
            tf.insert_slice(over, x[0:2, :], (c.c * 8, 0)),
        )


@func(topologies=WARP, target=TARGET)
def through_shared_memory(
    x: Tensor[(24, 5), "f32"], k: Tensor[(3,), "i32"], y: Tensor[(3, 4), "f32"]
) -> tuple[Tensor[(24, 5), "f32"], Tensor[(24, 3), "f32"], Tensor[(8, 3, 4), "f32"], Tensor[(16, 5), "f32"]]:
    """Ops in which threads exchange values, each thread with its own."""
    with Mesh(("thread",), (4, 8), ("w", "l")) as m:
        part = tf.local(tf.reshard(x, (8 @ m.l, 3, 5), "rmem"))
        ordered, places = tf.sort(part, axis=1)
        weight = tf.local(tf.reshard(y, (3, 4 @ m.w), "rmem"))
        chosen = tf.index_select(part, tf.reshard(k, (3,), "rmem"), dim=1)
        scaled = tf.reshard(x[0:16, :], (16 @ m.l, 5), "rmem") * tf.cast(m.w, "f32")
        sums = tf.reduce(scaled, (0,), True, ReduceKind.SUM)
        return (
            tf.insert_slice(tf.zeros(Tensor[(24, 5), "f32"]), ordered + tf.cast(places, "f32"), (m.l * 3, 0)),
            tf.insert_slice(tf.zeros(Tensor[(24, 3), "f32"]), chosen, (m.l * 3, 0)),
            tf.insert_slice(tf.zeros(Tensor[(8, 3, 4), "f32"]), chosen @ weight, (m.l, 0, m.w)),
            tf.insert_slice(tf.zeros(Tensor[(16, 5), "f32"]), sums, (m.w * 4, 0)),
        )


@func(topologies=BOTH, target=TARGET)
def both_levels(x: Tensor[(18, 40), "bf16"]) -> tuple[Tensor[(18, 5, 8), "bf16"], Tensor[(36, 8), "bf16"]]:
    """Parts of 3 x 5 elements that lie apart, on a mesh of both levels, at once and step by step."""
    with Mesh(("cta", "thread"), (2, 3, 4, 8), ("b", "c", "w", "l")) as m:
        part = tf.local(tf.reshard(x, (6 @ (m.b, m.c), 3, 5, 8 @ m.l), "rmem")) * tf.cast(m.l + m.c, "bf16")
        scaled = part + tf.reduce(part, (1,), True, ReduceKind.MAX)
        steps = tf.zeros(Tensor[(36, 8), "bf16"])
        for i in range(0, 36, 12):
            row = tf.local(tf.reshard(x[0:6, 0:8], (6 @ (m.b, m.c), 8 @ m.l), "rmem")) + tf.cast(i, "bf16")
            steps = tf.insert_slice(steps, tf.concat(row, -row, axis=0), (i + m.b * 6 + m.c * 2, m.l))
        return tf.insert_slice(
            tf.zeros(Tensor[(18, 5, 8), "bf16"]), tf.reshape(scaled, (3, 5, 1)), ((m.b * 3 + m.c) * 3, 0, m.l)
        ), steps


@func(topologies=WARP[:1] + LEVELS[1:], target=TARGET)
def windows(
    x: Tensor[(8, 6), "f32"],
) -> tuple[
    Tensor[(8, 6), "f32"], Tensor[(4, 8), "f32"], Tensor[(8, 3), "f32"], Tensor[(8, 2), "f32"], Tensor[(8, 6), "f32"]
]:
    """Windows of units in memory, in a shared tile and in registers; registers that change hands."""
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        part = tf.local(tf.reshard(x, (8 @ m.w, 6), "rmem"))
        turned = tf.insert_slice(tf.reshard(x, (8, 6), "smem"), part * 2.0, ((m.w * 2 + 2) % 8, 0))
        turned = tf.insert_slice(turned, tf.reshard(x[0:1, :], (1, 6), "rmem"), (7, 0))
        held = tf.reshard(turned, (8 @ m.w, 6), "rmem") + 1.0
        mine = tf.insert_slice(tf.reshard(x[:, 0], (8,), "rmem"), -x[0:2, 1], (m.w + 1,))
        pair = tf.reshape(part[m.l : m.l + 1, m.w : m.w + 2], (1, 2)) * part[m.l, m.w]
        row = tf.reshard(tf.reshard(x, (8, 6), "smem")[m.w + m.l, :], (6,), "rmem") - tf.reshard(
            x[(m.w * 3 + m.l) % 8, :] * 2.0, (6,), "rmem"
        )
        moved = tf.reshard(tf.reshard(held, (4, 2 @ m.l, 6), "rmem") - 3.0, (8, 6), "rmem") * 2.0
        return (
            tf.reshard(moved, (8, 6), "gmem"),
            tf.insert_slice(tf.zeros(Tensor[(4, 8), "f32"]), mine, (m.w, 0)),
            tf.reshard(held[:, m.w : m.w + 3], (8, 3), "gmem"),
            tf.insert_slice(tf.zeros(Tensor[(8, 2), "f32"]), pair, (m.w * 2 + m.l, 0)),
            tf.insert_slice(tf.zeros(Tensor[(8, 6), "f32"]), row, (m.w * 2 + m.l, 0)),
        )


ROWS = Tensor[(12, 7), "i32"]


@func(topologies=LEVELS, target=TARGET)
def of_memory(x: ROWS, y: Tensor[(2, 7), "i32"]) -> tuple[ROWS, ROWS, ROWS, ROWS]:
    """Parts of global tensors, of what is computed from them, of a shared tile, and of CTAs alone."""
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:
        part = tf.local(tf.reshard(x, (3, 4 @ m.w, 7), "gmem"))
        total = part + tf.reduce(part, (1,), True, ReduceKind.SUM)
        for i in range(3):
            total = total * 2 + part + tf.cast(i + m.w, "i32")
        pair = tf.local(tf.reshard(x * 3, (3 @ c.c, 2, 2 @ m.l, 7), "gmem"))
        staged = tf.local(tf.reshard(x, (4 @ m.w, 3, 7), "smem"))
        fifth = tf.local(tf.reshard(x, (4, 3 @ c.c, 7), "rmem"))
        return (
            tf.insert_slice(tf.zeros(ROWS), total, (m.w * 3, 0)),
            tf.insert_slice(tf.zeros(ROWS), pair * y, (c.c * 4 + m.l * 2, 0)),
            tf.insert_slice(tf.zeros(ROWS), staged - tf.cast(m.w, "i32"), (m.w * 3, 0)),
            tf.insert_slice(tf.zeros(ROWS), fifth * fifth - tf.cast(c.c, "i32"), (c.c * 4, 0)),
        )


@pytest.mark.parametrize(
    "module", [parts, through_shared_memory, both_levels, windows, of_memory], ids=lambda m: m.name
)
def test_compiled_as_evaluated(module: Module) -> None:
    types = [param.type for param in module.entry_function().params]
    kinds = {"f32": torch.float32, "bf16": torch.bfloat16, "i32": torch.int32}
    generator = torch.Generator().manual_seed(7)
    inputs = [torch.randint(0, 3, t.shape, generator=generator).to(kinds[t.dtype.name]) for t in types]
    compare(module, *inputs, bounds=[AllClose(1e-6, 1e-6)])
