"""What units own, against the definition of a shard layout, unit by unit; and random programs of reshards."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.placement import joined, owned, ownership, picked, placement_of
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.hir import Binary, BinaryKind, Cast, MeshCoordinate, Reshard
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Mesh,
    MeshAxis,
    Partial,
    ShardAttr,
    ShardLayout,
    Split,
    Topology,
    c_order_strides,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType

LEVELS = ("cta", "thread")
FACTORS = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3)


@dataclass(frozen=True)
class Case:
    """A layout, and the logical shape of a tensor that it places."""

    layout: ShardLayout
    shape: tuple[int, ...]

    @property
    def type(self) -> TensorType:
        return TensorType(self.shape, DType.f32, self.layout, StorageKind.RMEM)


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    """Meshes of one level, in any order of strides, or of two."""
    levels = LEVELS[: draw(st.integers(1, 2))]
    axes = [draw(FACTORS) for _ in levels]
    topologies = tuple(Topology(name, math.prod(own)) for name, own in zip(levels, axes, strict=True))
    shape = tuple(n for own in axes for n in own)
    strides = list(c_order_strides(shape))
    if len(levels) == 1:
        order = draw(st.permutations(range(len(shape))))
        step = 1
        for axis in order:
            strides[axis] = step
            step *= shape[axis]
    return Mesh(topologies, Layout(shape, tuple(strides)), tuple(f"a{k}" for k in range(len(shape))))


@st.composite
def cases(
    draw: st.DrawFn, mesh: Mesh | None = None, shape: tuple[int, ...] | None = None, partial: bool = True
) -> Case:
    """Layouts over a mesh. A given shape is kept: axes that divide by mesh axes are split over them."""
    mesh = draw(meshes()) if mesh is None else mesh
    extents = tuple(int(n) for n in mesh.shape)  # type: ignore[arg-type]  # static
    kinds = ["split", "broadcast", "partial"] if partial else ["split", "broadcast"]
    modes: list[tuple[int, int | None]]
    if shape is None:
        wanted = [draw(st.sampled_from(kinds)) for _ in extents]
        modes = [(n, axis) for axis, n in enumerate(extents) if wanted[axis] == "split"]
        modes += [(draw(st.integers(1, 3)), None) for _ in range(draw(st.integers(0, 2)))]
        modes = list(draw(st.permutations(modes)))
        cuts = sorted(draw(st.sets(st.integers(1, max(len(modes) - 1, 1)), max_size=2)))
        bounds = [0, *(c for c in cuts if c < len(modes)), len(modes)]
        shape = tuple(math.prod(n for n, _ in modes[i:j]) for i, j in itertools.pairwise(bounds))
    else:
        modes, free = [], list(draw(st.permutations(range(len(extents)))))
        for extent in shape:
            left = extent
            while free and left % extents[free[-1]] == 0 and draw(st.booleans()):
                axis = free.pop()
                modes.append((extents[axis], axis))
                left //= extents[axis]
            modes.append((left, None))
        wanted = ["broadcast"] * len(extents)
    attrs: list[ShardAttr] = [Partial("sum") if kind == "partial" else Broadcast() for kind in wanted]
    for k, (_, owner) in enumerate(modes):
        if owner is not None:
            attrs[owner] = Split(k)
    return Case(ShardLayout(Layout(tuple(n for n, _ in modes)), tuple(attrs), mesh), shape)


def extent(dim: Dim) -> int:
    assert isinstance(dim, int)
    return dim


def positions(units: Units, mesh: Mesh) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each coordinate of a mesh, and where its unit stands on the unit axes, by way of the unit's id."""
    sizes = [extent(t.size) for t in mesh.topologies]
    assert isinstance(mesh.layout, Layout) and mesh.layout.strides is not None
    for coordinate in itertools.product(*(range(extent(n)) for n in mesh.shape)):
        rest = sum(c * s for c, s in zip(coordinate, mesh.layout.strides, strict=True))
        ids: dict[str, int] = {}
        for level, size in zip(reversed(mesh.topologies), reversed(sizes), strict=True):
            ids[level.name] = rest % size
            rest //= size
        yield coordinate, tuple(ids.get(u.level, 0) // u.stride % u.extent for u in units.axes)


def part(case: Case, x: torch.Tensor, coordinate: tuple[int, ...]) -> torch.Tensor:
    """By definition: a unit holds the elements whose index along each split mode is its coordinate."""
    index: list[int | slice] = [slice(None)] * case.layout.rank
    for axis, attr in enumerate(case.layout.attrs):
        if isinstance(attr, Split):
            index[attr.axis] = coordinate[axis]
    return x.reshape(tuple(extent(n) for n in case.layout.shape))[tuple(index)]


@given(cases())
@settings(max_examples=150, deadline=None)
def test_units_own_what_the_layout_says(case: Case) -> None:
    mesh = case.layout.mesh
    units = Units([mesh], extent)
    placement = placement_of(units, case.type, case.shape, extent)
    axes = placement.owners()
    x = torch.arange(math.prod(case.shape)).reshape(case.shape)
    data = x.reshape((1,) * units.rank + case.shape)
    local = owned(units, placement, data, axes)
    mask = ownership(units, placement, axes, x.device)
    held = 0
    everyone = local.expand([u.extent for u in units.axes] + list(local.shape[units.rank :]))
    masks = mask.expand([u.extent for u in units.axes] + list(case.shape))
    for coordinate, at in positions(units, mesh):
        mine = part(case, x, coordinate)
        assert everyone[at].flatten().tolist() == mine.flatten().tolist()
        assert sorted(x[masks[at]].tolist()) == sorted(mine.flatten().tolist())
        held += mine.numel()
    copies = math.prod(
        extent(n) for n, attr in zip(mesh.shape, case.layout.attrs, strict=True) if not isinstance(attr, Split)
    )
    assert held == x.numel() * copies
    assert torch.equal(joined(units, placement, local, axes).reshape(case.shape), x)


@given(cases())
@settings(max_examples=100, deadline=None)
def test_of_what_differs_each_element_is_its_owners(case: Case) -> None:
    mesh = case.layout.mesh
    units = Units([mesh], extent)
    placement = placement_of(units, case.type, case.shape, extent)
    axes = placement.owners()
    lead = [u.extent if k in axes else 1 for k, u in enumerate(units.axes)]
    codes = torch.arange(math.prod(lead)).reshape(lead)
    data = codes.reshape(lead + [1] * len(case.shape)).expand(lead + list(case.shape))
    chosen = picked(units, placement, data, axes).reshape(case.shape)
    for coordinate, at in positions(units, mesh):
        own = codes[tuple(i if k in axes else 0 for k, i in enumerate(at))]
        assert part(case, chosen, coordinate).eq(own).all()


@pytest.mark.parametrize("storage", [StorageKind.RMEM, StorageKind.SMEM, StorageKind.GMEM], ids=str)
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_random_reshards_and_owners(storage: StorageKind, data: st.DataObject) -> None:
    """Each unit adds a number of its own to what it holds, layout after layout; copies that then differ are refused."""
    mesh = data.draw(meshes())
    shape = data.draw(st.sampled_from([(12,), (4, 6), (3, 8), (2, 2, 6), (1, 5)]))
    x = Var("x", TensorType(shape, DType.f32))
    value: Expr = x
    given_x = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
    model, agree = given_x.clone(), True
    units = Units([mesh], extent)
    for _ in range(data.draw(st.integers(1, 3))):
        case = data.draw(cases(mesh, shape, partial=False))
        value = Call(Reshard(case.layout, storage), (value,))
        for axis in data.draw(st.sets(st.integers(0, mesh.rank - 1), max_size=2)):
            own = Call(Cast(DType.f32), (Call(MeshCoordinate(MeshAxis(mesh, axis)), ()),))
            scaled = Call(Binary(BinaryKind.MUL), (value, own))
            value = Call(Binary(BinaryKind.ADD), (Call(Binary(BinaryKind.ADD), (scaled, value)), own))
            agree &= isinstance(case.layout.attrs[axis], Split) or mesh.shape[axis] == 1
            for coordinate, _ in positions(units, mesh):
                mine = part(case, model, coordinate)  # a view: each element is written by its owner once
                if all(c == 0 for c, a in zip(coordinate, case.layout.attrs, strict=True) if not isinstance(a, Split)):
                    mine.mul_(coordinate[axis] + 1).add_(coordinate[axis])
        if not agree:
            break
    value = Call(Reshard(Layout(shape), StorageKind.GMEM), (value,))
    function = Function("f", (x,), value, value.type)
    if agree:
        found = evaluate(function, given_x)
        assert isinstance(found, torch.Tensor)
        assert torch.equal(found, model)
    else:
        with pytest.raises(EvalError, match="copies disagree"):
            evaluate(function, given_x)
