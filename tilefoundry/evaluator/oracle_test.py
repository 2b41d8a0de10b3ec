"""Random programs, against an interpreter that runs every unit on its own part."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import EvalError, VerifyError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.unit_interpreter import Interpreter, partial_axes, tensor_shape, tensor_type
from tilefoundry.ir import hir
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.hir import BinaryKind, ReduceKind
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Mesh,
    MeshAxis,
    ShardAttr,
    ShardLayout,
    Split,
    Topology,
    group_modes,
    make_mesh,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType

MESHES = [
    make_mesh((2, 3), ("a", "b")),
    make_mesh((4,), ("a",)),
    Mesh((Topology("cta", 2), Topology("thread", 6)), Layout((2, 2, 3), (6, 3, 1)), ("c", "w", "l")),
    Mesh((Topology("thread", 6),), Layout((2, 3), (1, 2)), ("a", "b")),
]


@st.composite
def layouts(draw: st.DrawFn, mesh: Mesh, shape: tuple[int, ...], fixed: dict[int, int] | None = None) -> ShardLayout:
    """A layout of a tensor. `fixed`: mesh axes that split a certain axis; the others split any, or none."""
    extents = [int(n) for n in mesh.shape]  # type: ignore[arg-type]  # static
    owners: dict[int, list[int]] = {axis: [] for axis in range(len(shape))}
    for m in draw(st.permutations(range(mesh.rank))):
        units = {axis: extents[m] * math.prod(extents[o] for o in owners[axis]) for axis in owners}
        choices = [axis for axis, n in enumerate(shape) if n % units[axis] == 0]
        wanted = fixed.get(m) if fixed is not None else draw(st.sampled_from([None, *choices]))
        if wanted is not None and wanted in choices:
            owners[wanted].append(m)
    modes: list[int] = []
    attrs: list[ShardAttr] = [Broadcast()] * mesh.rank
    for axis, n in enumerate(shape):
        for m in owners[axis]:
            attrs[m] = Split(len(modes))
            modes.append(extents[m])
            n //= modes[-1]
        modes.append(n)
    return ShardLayout(Layout(tuple(modes)), tuple(attrs), mesh)


class Program:
    """Grows a random program; each step makes a new value from those that there are."""

    def __init__(self, draw: st.DrawFn, mesh: Mesh) -> None:
        self.draw, self.mesh = draw, mesh
        self.x = Var("x", TensorType((12, 6), DType.f32))
        self.y = Var("y", TensorType((6, 12), DType.f32))
        self.value: Expr = self.x

    def coordinate(self) -> Expr:
        """Mostly along a mesh axis that splits the value, or holds its terms: else its copies soon disagree."""
        axes = list(range(self.mesh.rank))
        layout = tensor_type(self.value).layout
        if isinstance(layout, ShardLayout) and self.draw(st.integers(0, 9)):
            axes = [m for m, attr in enumerate(layout.attrs) if not isinstance(attr, Broadcast)] or axes
        return Call(hir.MeshCoordinate(MeshAxis(self.mesh, self.draw(st.sampled_from(axes)))), ())

    def number(self) -> Expr:
        return Call(hir.Cast(DType.f32), (self.coordinate(),))

    def reshard(self) -> Expr:
        layout = self.draw(layouts(self.mesh, self.shape))
        return Call(hir.Reshard(layout, StorageKind.RMEM), (self.value,))

    def gather(self) -> Expr:
        return Call(hir.Reshard(Layout(self.shape), StorageKind.RMEM), (self.value,))

    def scale(self) -> Expr:
        return Call(hir.Binary(BinaryKind.MUL), (self.value, self.number()))

    def shift(self) -> Expr:
        return Call(hir.Binary(BinaryKind.ADD), (self.value, self.number()))

    def choose(self) -> Expr:
        chosen = Call(hir.Binary(BinaryKind.EQ), (self.coordinate(), self.coordinate()))
        other = Call(hir.Binary(BinaryKind.MAX), (self.value, self.number()))
        return Call(hir.Where(), (chosen, self.value, other))

    def twice(self) -> Expr:
        return Call(hir.Binary(BinaryKind.ADD), (self.value, self.value))

    def reduce(self) -> Expr:
        kind = self.draw(st.sampled_from([ReduceKind.SUM, ReduceKind.MAX]))
        return Call(hir.Reduce((self.draw(st.integers(0, 1)),), True, kind), (self.value,))

    def add_reduced(self) -> Expr:
        return Call(hir.Binary(BinaryKind.ADD), (self.value, self.reduce()))

    def local(self) -> Expr:
        return Call(hir.Local(), (self.value,))

    def product(self) -> Expr:
        """With a matrix whose rows are split as the columns of the value are."""
        rows = self.shape[1]
        other: Expr = self.y if rows == 6 else self.x if rows == 12 else self.y
        fixed = {}
        layout = tensor_type(self.value).layout
        if isinstance(layout, ShardLayout):
            groups = group_modes(layout.shape, self.shape)
            assert groups is not None
            fixed = {m: 0 for m, a in enumerate(layout.attrs) if isinstance(a, Split) and a.axis in groups[1]}
        held = Call(hir.Reshard(self.draw(layouts(self.mesh, tensor_shape(other), fixed)), StorageKind.RMEM), (other,))
        if self.draw(st.booleans()):
            held = Call(hir.Binary(BinaryKind.MUL), (held, self.number()))
        return Call(hir.MatMul(None), (self.value, held))

    def window(self) -> Expr:
        """Rows from one that the unit chooses."""
        rows, columns = self.shape
        kept = self.draw(st.sampled_from([n for n in (1, 2, 6) if n <= rows]))
        axes = [m for m, n in enumerate(self.mesh.shape) if n <= rows - kept + 1]  # type: ignore[operator]  # static
        start = Call(hir.MeshCoordinate(MeshAxis(self.mesh, self.draw(st.sampled_from(axes)))), ()) if axes else 0
        return Call(hir.Slice((kept, columns)), (self.value, Tuple((start, 0))))

    def patch(self) -> Expr:
        """The first row, moved to one that the unit chooses, in its own registers."""
        rows, columns = self.shape
        axes = [m for m, n in enumerate(self.mesh.shape) if n <= rows]  # type: ignore[operator]  # static
        offset = Call(hir.MeshCoordinate(MeshAxis(self.mesh, self.draw(st.sampled_from(axes)))), ()) if axes else 0
        row = Call(hir.Slice((1, columns)), (self.value, Tuple((0, 0))))
        return Call(hir.InsertSlice((1, columns)), (self.value, row, Tuple((offset, 0))))

    def insert(self) -> Expr:
        """The value into a tensor with room for every coordinate."""
        rows, columns = self.shape
        extent = 12 * rows
        out = Call(hir.Zeros(TensorType((extent, columns), DType.f32)), ())
        offset: Expr | int = self.coordinate() if self.draw(st.booleans()) else 0
        return Call(hir.InsertSlice((rows, columns)), (out, self.value, Tuple((offset, 0))))

    @property
    def shape(self) -> tuple[int, ...]:
        return tensor_shape(self.value)

    def finished(self) -> Function:
        if partial_axes(tensor_type(self.value)):
            self.value = self.gather()
        elif not isinstance(tensor_type(self.value).layout, ShardLayout) and self.draw(st.booleans()):
            self.value = self.insert()
        return Function("f", (self.x, self.y), self.value, self.value.type)


STEPS = (
    *("reshard", "reshard", "gather", "scale", "shift", "choose", "twice", "reduce", "add_reduced"),
    *("local", "local", "product", "product", "product", "window", "patch"),
)


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_random_programs(data: st.DataObject) -> None:
    mesh = data.draw(st.sampled_from(MESHES))
    program = Program(data.draw, mesh)  # type: ignore[arg-type]  # draws as a DrawFn does
    for _ in range(data.draw(st.integers(1, 7))):
        step = data.draw(st.sampled_from(STEPS))
        try:
            program.value = getattr(program, step)()
        except VerifyError:  # a Partial that does not pass, extents that do not fit: another step
            continue
    function = program.finished()
    inputs = [
        np.random.default_rng(k).integers(-4, 5, shape).astype(float) for k, shape in enumerate(((12, 6), (6, 12)))
    ]
    expected = Interpreter(mesh).run(function, inputs)
    given_inputs = [torch.tensor(x, dtype=torch.float32) for x in inputs]
    if expected is None:
        with pytest.raises(EvalError, match=r"copies disagree|written by several units"):
            evaluate(function, *given_inputs, precision="f64")
        return
    value = evaluate(function, *given_inputs, precision="f64")
    assert isinstance(value, torch.Tensor)
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-12)
