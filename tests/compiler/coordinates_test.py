# mypy: ignore-errors
# Bodies are the tensor language: their names and annotations mean nothing to Python's type system.
"""Programs that read mesh coordinates: compiled for the CPU, against the evaluator; and what cannot be compiled."""

from __future__ import annotations

import pytest
import torch

import tilefoundry
from tests.compiler.running import compiled
from tilefoundry import Mesh, Topology, VerifyError, func
from tilefoundry.dsl import Tensor, tf, tile
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CudaTarget

TARGET = CudaTarget("nvidia.h200_sxm")
LEVELS = (Topology("cta", 6), Topology("thread", 32))


@func(topologies=LEVELS, target=TARGET)
def owners(x: Tensor[(6, 64), "f32"]) -> Tensor[(6, 64), "f32"]:
    """Each element by coordinates of its owner, on a mesh of both levels."""
    with Mesh(("cta", "thread"), (2, 3, 4, 8), ("b", "c", "w", "l")) as m:
        r = tf.reshard(x, (6 @ (m.b, m.c), 64 @ (m.w, m.l)), "rmem")
        y = r * tf.cast(m.w * 10 + m.l, "f32") + tf.cast(m.b * 100 - m.c, "f32")
        y = tf.where((m.l + m.b) % 3 == 1, y, -y)
        return tf.reshard(y, (6 @ (m.b, m.c), 64 @ (m.w, m.l)), "gmem")


@func(topologies=LEVELS, target=TARGET)
def windows(x: Tensor[(24, 64), "f32"]) -> Tensor[(40, 64), "f32"]:
    """Each CTA takes its window for the tiles that it computes."""
    with Mesh(("cta",), (6,), ("c",)) as c, Mesh(("thread",), (32,), ("t",)) as m:
        out = tf.zeros(Tensor[(40, 64), "f32"])
        for i in tile(40, 2) @ c.c:
            r = tf.reshard(x[c.c * 4 + 1 : c.c * 4 + 3, :], (2, 64 @ m.t), "rmem") + tf.cast(m.t, "f32")
            out = tf.insert_slice(out, r, (i, 0))
        return out


@pytest.mark.parametrize("module", [owners, windows], ids=lambda m: m.name)
def test_compiled_as_evaluated(module: Module) -> None:
    shape = module.entry_function().params[0].type.shape
    x = torch.randint(-100, 100, shape).float()  # all numbers here are exact
    kernel = compiled(module)
    assert torch.equal(kernel(x), tilefoundry.evaluate(module, x))


def bounds() -> Module:
    @func(topologies=LEVELS, target=TARGET)
    def f(x: Tensor[(32,), "f32"]) -> Tensor[(32,), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            r = tf.reshard(x, (32 @ m.t,), "rmem")
            for i in range(m.t):
                r = r + tf.cast(i, "f32")
            return tf.reshard(r, (32 @ m.t,), "gmem")

    return f


def window_of_a_thread() -> Module:
    @func(topologies=LEVELS, target=TARGET)
    def f(x: Tensor[(64, 32), "f32"]) -> Tensor[(1, 32), "f32"]:
        with Mesh(("thread",), (32,), ("t",)) as m:
            r = tf.reshard(x[m.t : m.t + 1, :], (1, 32 @ m.t), "rmem")
            return tf.reshard(r, (1, 32 @ m.t), "gmem")

    return f


def slice_of_a_mesh() -> Module:
    @func(topologies=LEVELS, target=TARGET)
    def f(x: Tensor[(16,), "f32"]) -> Tensor[(16,), "f32"]:
        with Mesh(("thread",), (2, 16), ("h", "l"))[0] as m:
            r = tf.reshard(x, (16 @ m.l,), "rmem")
            return tf.reshard(r * tf.cast(m.l, "f32"), (16 @ m.l,), "gmem")

    return f


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (bounds, "a bound of the loop depends on the coordinate along 't'"),
        (window_of_a_thread, "the window starts at the coordinate along 't': each thread would take its own"),
        (slice_of_a_mesh, "the coordinate along 'l' of a slice of a mesh cannot be compiled"),
    ],
)
def test_refused(build: object, words: str) -> None:
    with pytest.raises(VerifyError) as caught:
        lower(build())
    assert words in caught.value.message
    assert caught.value.span is not None
    assert caught.value.remedy
