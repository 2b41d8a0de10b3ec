"""The units that take part in an evaluation, as axes of tensors.

Meshes are coordinates over the same units, each with a factorisation of its own: threads as (6, 32) here and as (192,)
there. The *unit axes* are the common refinement, level by level, outermost first. The coordinate along a mesh axis is
then a number whose digits are the coordinates along some unit axes. A slice of a mesh has unit axes of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.shard import ComposedLayout, Layout, Mesh, MeshAxis, flat_modes

Extent = Callable[[Dim], int]


@dataclass(frozen=True)
class UnitAxis:
    """One axis of units.

    Attributes:
        level: the topology level whose units it counts.
        stride: between the ids of neighbours, in units of the level.
        scope: the slice of a mesh that it counts the units of; None for all units of the level.
        offset: id of its first unit.
    """

    level: str
    stride: int
    extent: int
    scope: Mesh | None = None
    offset: int = 0


@dataclass(frozen=True)
class _Placed:
    """A mesh axis as steps over one level."""

    level: str
    stride: int
    extent: int


class Units:
    """The unit axes of a program, and which of them each mesh axis counts.

    Args:
        meshes: every mesh of the program.
        extent: the value of an extent, among them the sizes of launch-provided levels.

    Raises:
        EvalError: two meshes factor a level in ways that do not nest, or an axis straddles two levels.
    """

    def __init__(self, meshes: Iterable[Mesh], extent: Extent) -> None:
        distinct = list(dict.fromkeys(meshes))
        placed = {mesh: _placed(mesh, extent) for mesh in distinct}
        order = list(dict.fromkeys(t.name for m in _deepest_first(distinct) for t in m.topologies))
        axes: list[UnitAxis] = []
        for level in order:
            cuts = {1}
            for mesh in distinct:
                if isinstance(mesh.layout, Layout):
                    for axis in placed[mesh]:
                        if axis.level == level:
                            cuts |= {axis.stride, axis.stride * axis.extent}
            axes.extend(_refinement(level, sorted(cuts)))
            for mesh in distinct:
                if isinstance(mesh.layout, ComposedLayout):
                    offset = _offset(mesh, level, extent)
                    axes.extend(
                        UnitAxis(level, a.stride, a.extent, mesh, offset)
                        for a in placed[mesh]
                        if a.level == level and a.extent > 1
                    )
        self.axes = tuple(axes)
        self._of = {mesh: tuple(self._digits(mesh, a) for a in placed[mesh]) for mesh in distinct}

    @property
    def rank(self) -> int:
        """The number of unit axes."""
        return len(self.axes)

    def of(self, mesh: Mesh, axis: int) -> tuple[int, ...]:
        """The unit axes that a mesh axis counts, most significant first; none where it has one unit."""
        return self._of[mesh][axis]

    def of_mesh(self, mesh: Mesh) -> tuple[int, ...]:
        """The unit axes of all axes of a mesh."""
        return tuple(sorted({u for digits in self._of[mesh] for u in digits}))

    def coordinate(self, axis: MeshAxis, device: torch.device) -> torch.Tensor:
        """The coordinate of every unit: i64, with an extent on the unit axes that the mesh axis counts, else 1."""
        result = torch.zeros((1,) * self.rank, dtype=torch.int64, device=device)
        for u in self.of(axis.mesh, axis.axis):
            extent = self.axes[u].extent
            shape = tuple(extent if v == u else 1 for v in range(self.rank))
            result = result * extent + torch.arange(extent, device=device).reshape(shape)
        return result

    def of_levels(self, chosen: Callable[[str], bool]) -> frozenset[int]:
        """The unit axes of the levels that a predicate holds for."""
        return frozenset(u for u, axis in enumerate(self.axes) if chosen(axis.level))

    def name(self, coordinates: Sequence[int], varying: Iterable[int]) -> str:
        """A unit, for a message: the ids of the levels along which something varies."""
        levels = list(dict.fromkeys(self.axes[u].level for u in sorted(varying)))
        ids = []
        for level in levels:
            own = [u for u in varying if self.axes[u].level == level]
            ids.append(f"{level} {sum(coordinates[u] * self.axes[u].stride for u in own) + self.axes[own[0]].offset}")
        return " of ".join(reversed(ids)) if ids else "every unit"

    def mixes_scopes(self, varying: Iterable[int]) -> bool:
        """Whether something varies over the same level as counted by two scopes, which has no meaning."""
        scopes: dict[str, set[Mesh | None]] = {}
        for u in varying:
            scopes.setdefault(self.axes[u].level, set()).add(self.axes[u].scope)
        return any(len(found) > 1 for found in scopes.values())

    def _digits(self, mesh: Mesh, axis: _Placed) -> tuple[int, ...]:
        scope = mesh if isinstance(mesh.layout, ComposedLayout) else None
        inside = range(axis.stride, axis.stride * axis.extent)
        return tuple(
            u
            for u, own in enumerate(self.axes)
            if own.level == axis.level and own.scope == scope and own.stride in inside
        )


def _deepest_first(meshes: list[Mesh]) -> list[Mesh]:
    """Meshes over several levels tell the order of the levels."""
    return sorted(meshes, key=lambda m: -len(m.topologies))


def _placed(mesh: Mesh, extent: Extent) -> tuple[_Placed, ...]:
    layout = mesh.layout.outer if isinstance(mesh.layout, ComposedLayout) else mesh.layout
    assert isinstance(layout, Layout)
    sizes = [extent(t.size) for t in mesh.topologies]
    result = []
    for count, step in ((extent(n), extent(s)) for n, s in flat_modes(layout)):
        if count == 1:
            result.append(_Placed(mesh.topologies[-1].name, 1, 1))
            continue
        level, below = next(
            (k, math.prod(sizes[k + 1 :])) for k in range(len(sizes)) if math.prod(sizes[k + 1 :]) <= step
        )
        if step % below or (level and step * count > below * sizes[level]):
            raise EvalError(
                f"an axis of {count} units in steps of {step} straddles the levels of the mesh",
                remedy="let the axes of each level multiply to its size, innermost level last",
            )
        result.append(_Placed(mesh.topologies[level].name, step // below, count))
    return tuple(result)


def _offset(mesh: Mesh, level: str, extent: Extent) -> int:
    assert isinstance(mesh.layout, ComposedLayout)
    names = [t.name for t in mesh.topologies]
    if level not in names:
        return 0
    sizes = [extent(t.size) for t in mesh.topologies]
    at = names.index(level)
    id_ = extent(mesh.layout.offset) // math.prod(sizes[at + 1 :])
    return id_ % sizes[at] if at else id_


def _refinement(level: str, cuts: list[int]) -> list[UnitAxis]:
    axes = []
    for inner, outer in itertools.pairwise(cuts):
        if outer % inner:
            raise EvalError(
                f"meshes count the units of '{level}' in steps of {inner} and of {outer}, which do not nest",
                remedy="give the meshes extents of which one refines the other, such as (6, 32) and (192,)",
            )
        axes.append(UnitAxis(level, inner, outer // inner))
    return list(reversed(axes))
