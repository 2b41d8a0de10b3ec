"""Ops that move elements over a mesh: reads along a split axis leave terms, and units hold different values."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import Layout, Mesh, Tensor, Topology, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.testing import assert_same, sample
from tilefoundry.ir.types import DType
from tilefoundry.python import func

THREAD = Topology("thread", 8)
UNITS = Mesh((THREAD,), Layout((8,)))  # evaluated over them whether the program needs it or not


@func(topologies=(THREAD,))
def selected(x: Tensor[(8, 6), "f32"], i: Tensor[(5,), "i64"]) -> Tensor[(5, 6), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        rows = tf.index_select(tf.reshard(x, (8 @ m.w, 6 @ m.l), "rmem"), tf.reshard(i, (5,), "rmem"), dim=0)
        return tf.reshard(rows, (5, 6), "gmem")  # completes the sum of what each unit holds


@func(topologies=(THREAD,))
def gathered(x: Tensor[(8, 6), "f32"], i: Tensor[(8, 3), "i64"]) -> Tensor[(8, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        at = tf.reshard(i, (8 @ m.w, 3), "rmem")
        return tf.reshard(tf.gather(tf.reshard(x, (8 @ m.w, 6 @ m.l), "rmem"), at, dim=1), (8, 3), "gmem")


@func(topologies=(THREAD,))
def convolved(x: Tensor[(2, 8, 5, 5), "f32"], w: Tensor[(4, 8, 3, 3), "f32"]) -> Tensor[(2, 4, 3, 3), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        a = tf.reshard(x, (2, 8 @ m.w, 5, 5), "rmem")
        b = tf.reshard(w, (4 @ m.l, 8 @ m.w, 3, 3), "rmem")
        return tf.reshard(tf.conv2d(a, b), (2, 4, 3, 3), "gmem")


@func(topologies=(THREAD,))
def joined(x: Tensor[(8, 6), "f32"], y: Tensor[(8, 2), "f32"]) -> Tensor[(2, 8, 8), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        a, b = tf.reshard(x, (8 @ m.w, 6), "rmem"), tf.reshard(y, (8 @ m.w, 2), "rmem")
        row = tf.flip(tf.concat(a, b, axis=1), 1)
        left, right = tf.split(row, axis=1, num_splits=2)
        again = tf.pad(tf.concat(right, left, axis=1)[:, 0:7], (1, 0))
        return tf.reshard(tf.stack(row, again, axis=0), (2, 8, 8), "gmem")


@func(topologies=(THREAD,))
def cached(
    c: Tensor[(1, 9, 4, 2), "f32"], n: Tensor[(1, 3, 4, 2), "f32"], p: Tensor[(), "i32"]
) -> Tensor[(1, 9, 4, 2), "f32"]:
    with Mesh(("thread",), (4, 2), ("w", "l")) as m:
        cache, new = tf.reshard(c, (1, 9, 4 @ m.w, 2), "rmem"), tf.reshard(n, (1, 3, 4 @ m.w, 2), "rmem")
        return tf.reshard(tf.cache_update(cache, p, 2, new), (1, 9, 4, 2), "gmem")


def joined_by_torch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    row = torch.cat((x, y), 1).flip(1)
    again = torch.nn.functional.pad(torch.cat((row[:, 4:], row[:, :4]), 1)[:, :7], (1, 0))
    return torch.stack((row, again))


@pytest.mark.parametrize(
    ("program", "shapes", "reference"),
    [
        (selected, [(8, 6)], lambda x, i: x.index_select(0, i)),
        (gathered, [(8, 6)], lambda x, i: x.gather(1, i)),
        (convolved, [(2, 8, 5, 5), (4, 8, 3, 3)], torch.conv2d),
        (joined, [(8, 6), (8, 2)], joined_by_torch),
        (cached, [(1, 9, 4, 2), (1, 3, 4, 2)], lambda c, n, p: torch.cat((c[:, :4], n[:, :2], c[:, 6:]), 1)),
    ],
)
def test_over_units_the_value_is_that_of_logical_tensors(program, shapes, reference):
    inputs = [sample(shape, DType.f32, k) for k, shape in enumerate(shapes)]
    if program is selected:
        inputs.append(torch.tensor([7, 0, 3, 3, 1]))
    if program is gathered:
        inputs.append(torch.randint(0, 6, (8, 3), generator=torch.Generator().manual_seed(1)))
    if program is cached:
        inputs.append(torch.tensor(4, dtype=torch.int32))
    expected = reference(*inputs)
    assert_same(evaluate(program, *inputs), expected)
    assert_same(evaluate(program, *inputs, mesh=UNITS), expected)


@func(topologies=(THREAD,))
def every_other_row(x: Tensor[(16, 2), "f32"], step: Tensor[(1,), "i64"]) -> Tensor[(8, 2), "f32"]:
    with Mesh(("thread",), (8,), ("u",)) as m:
        row = tf.index_select(x, step * m.u, dim=0)
        return tf.insert_slice(tf.zeros(Tensor[(8, 2), "f32"]), row, (m.u, 0))


def test_an_index_of_its_own_for_each_unit_is_checked_for_each():
    x = sample((16, 2), DType.f32)
    assert_same(evaluate(every_other_row, x, torch.tensor([2])), x[::2])
    with pytest.raises(EvalError, match=r"index_select: index 21 is out of range for axis 0 of extent 16"):
        evaluate(every_other_row, x, torch.tensor([3]))
