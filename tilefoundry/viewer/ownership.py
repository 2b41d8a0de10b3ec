"""Who owns what, cell by cell: the numbers behind the pictures of layouts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tilefoundry.diagnostics import NotProjectable
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.shard import (
    ComposedLayout,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardLayout,
    apply,
    flatten,
    group_modes,
)

MOST_ROWS, MOST_COLUMNS = 32, 64  # cells of a picture: more cannot be read, and pages must stay small


@dataclass(frozen=True)
class Cell:
    """One element.

    Attributes:
        coordinate: in the tensor.
        offset: in the storage of its owner, in elements; None where the layout leaves it open.
        owners: linear ids of the units that hold it; empty where a layout says nothing about owners.
        position: coordinate of the owner on the mesh; None along the axes that do not split.
    """

    coordinate: tuple[int, ...]
    offset: int | None
    owners: tuple[int, ...] = ()
    position: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Grid:
    """Elements in rows and columns: the last axis runs to the right, all others downwards.

    Attributes:
        shape: of the whole tensor.
        rows: those that are shown; each of one length.
        whole: number of rows and of columns that there are.
    """

    shape: tuple[int, ...]
    rows: tuple[tuple[Cell, ...], ...]
    whole: tuple[int, int]


Pictured = Layout | ComposedLayout | ShardLayout | Mesh


def grid_of(layout: Pictured, shape: Sequence[object] | None = None) -> Grid:
    """The elements of a layout with their owners and offsets. Of a mesh: its units, each at its id.

    Args:
        shape: the shape of the tensor; by default the layout's own.

    Raises:
        NotProjectable: an extent is not known, a mode straddles two axes, or an axis' owner is known at run time only.
    """
    if isinstance(layout, Mesh):
        return grid_of(layout.layout)
    if isinstance(layout, ShardLayout):
        extents = _static("the tensor", layout.shape if shape is None else shape)
        cell: Callable[[tuple[int, ...]], Cell] = _sharded(layout, extents)
    else:
        own = layout.shape if isinstance(layout, Layout) else _composed_shape(layout)
        tops = tuple(_product(_static("the layout", flatten((mode,)))) for mode in own)
        extents = tops if shape is None else _static("the tensor", shape)
        if extents != tops:
            raise NotProjectable(
                f"layout {layout} is not of the shape {extents}", remedy="give the tensor's own layout"
            )
        cell = partial(_plain, layout)
    columns = extents[-1] if extents else 1
    rows = _product(extents[:-1])
    leading = itertools.product(*(range(e) for e in extents[:-1]))
    shown = tuple(
        tuple(cell((*row, column) if extents else ()) for column in range(min(columns, MOST_COLUMNS)))
        for row in itertools.islice(leading, MOST_ROWS)
    )
    return Grid(extents, shown, (rows, columns))


def _plain(layout: Layout | ComposedLayout, coordinate: tuple[int, ...]) -> Cell:
    index = apply(layout, coordinate)
    return Cell(coordinate, index if isinstance(index, int) else None)


def _sharded(layout: ShardLayout, extents: tuple[int, ...]) -> _ShardedCells:
    mesh = layout.mesh
    groups = group_modes(layout.shape, extents)
    if groups is None:
        raise NotProjectable(
            f"a mode of {layout} straddles two axes of {extents}", remedy="show the layout without shape"
        )
    for axis, attr in enumerate(layout.attrs):
        if isinstance(attr, Dynamic):
            name = mesh.names[axis] if mesh.names else str(axis)
            raise NotProjectable(f"mesh axis {name} of {layout} is chosen at run time", remedy="bind the axis first")
    modes, units = _static("the layout", layout.shape), _static("the mesh", mesh.shape)
    for mode, extent in enumerate(modes):
        splitters = layout.splitters(mode)
        if splitters and _product([units[axis] for axis in splitters]) != extent:
            raise NotProjectable(
                f"mode {mode} of {layout} has the extent {extent}, which is not that of the mesh axes that split it",
                remedy="factor the mode: write N @ m.axis, which leaves the rest a mode of its own",
            )
    strides = None if layout.layout.strides is None else flatten(layout.layout.strides)
    return _ShardedCells(layout, groups, modes, strides, units)


@dataclass(frozen=True)
class _ShardedCells:
    """From the coordinate of an element to its cell."""

    layout: ShardLayout
    groups: tuple[tuple[int, ...], ...]
    modes: tuple[int, ...]
    strides: tuple[object, ...] | None
    mesh_shape: tuple[int, ...]

    def __call__(self, coordinate: tuple[int, ...]) -> Cell:
        factors = [0] * len(self.modes)
        for index, group in zip(coordinate, self.groups, strict=True):
            for mode in reversed(group):  # in an axis, modes are digits of the index, the last of which runs fastest
                index, factors[mode] = divmod(index, self.modes[mode])
        position: list[int | None] = [None] * len(self.mesh_shape)
        for mode, factor in enumerate(factors):
            for axis in reversed(self.layout.splitters(mode)):
                factor, position[axis] = divmod(factor, self.mesh_shape[axis])
        return Cell(coordinate, self._offset(factors), tuple(self._owners(position)), tuple(position))

    def _offset(self, factors: Sequence[int]) -> int | None:
        if self.strides is None:
            return None
        offset = 0
        for factor, stride in zip(factors, self.strides, strict=True):
            if not isinstance(stride, int):
                return None
            offset += factor * stride
        return offset

    def _owners(self, position: Sequence[int | None]) -> Iterator[int]:
        choices = [range(n) if at is None else (at,) for at, n in zip(position, self.mesh_shape, strict=True)]
        for coordinate in itertools.product(*choices):
            index = apply(self.layout.mesh.layout, coordinate)
            assert isinstance(index, int)  # static, as the shape is
            yield index


def partial_axes(layout: ShardLayout) -> tuple[str, ...]:
    """The mesh axes along which the owners hold summands and not the value."""
    names = layout.mesh.names or tuple(map(str, range(layout.mesh.rank)))
    return tuple(f"{name}: {attr}" for name, attr in zip(names, layout.attrs, strict=True) if isinstance(attr, Partial))


def _composed_shape(layout: ComposedLayout) -> tuple[object, ...]:
    inner = layout.outer if layout.outer is not None else layout.inner
    assert isinstance(inner, Layout)  # one of them is
    return inner.shape


def _static(what: str, extents: Sequence[object]) -> tuple[int, ...]:
    for extent in extents:
        if not isinstance(extent, int):
            raise NotProjectable(
                f"{what} has the symbolic extent {format_dim(extent)}",  # type: ignore[arg-type]  # a Dim
                remedy="bind it: tilefoundry.ir.specialize_module",
            )
    return tuple(extents)  # type: ignore[arg-type]  # checked above


def _product(extents: Sequence[int]) -> int:
    product = 1
    for extent in extents:
        product *= extent
    return product
