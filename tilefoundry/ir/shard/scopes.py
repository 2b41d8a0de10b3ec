"""Mesh scopes as sets of units: which ids a scope holds, and at which coordinate.

A scope is a mesh's layout, or that of a slice of a mesh: an offset and a layout.
"""

from __future__ import annotations

from tilefoundry.diagnostics import NotProjectable, WrongTypeError
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod, dim_product
from tilefoundry.ir.shard.layout import (
    ComposedLayout,
    Layout,
    LayoutBase,
    apply,
    flat_modes,
    flatten,
    size,
    static_modes,
)
from tilefoundry.ir.shard.mesh import Mesh, axis_levels


def image(scope: LayoutBase) -> tuple[int, ...]:
    """The ids of a scope's units, ascending.

    Raises:
        NotProjectable: the scope is no offset and static layout whose strides step over each other.
    """
    offset, layout = _parts("image", scope)
    count = size(layout)
    assert isinstance(count, int)
    return tuple(sorted(offset + _index(layout, k) for k in range(count)))


def project(scope: LayoutBase, index: int) -> tuple[int, ...]:
    """The flat coordinate of a unit in a scope.

    Raises:
        NotProjectable: the unit is not in the scope, or the scope is none of `image`'s.
    """
    offset, layout = _parts("project", scope)
    _check_unit("project", index)
    coordinate = _coordinate(layout, index - offset)
    if coordinate is None:
        raise NotProjectable(f"project: unit {index} is not in the scope {scope}", remedy="ask contains(...) first")
    return coordinate


def contains(scope: LayoutBase, other: LayoutBase | int) -> bool:
    """Whether a scope holds a unit, or every unit of another scope.

    Raises:
        NotProjectable: a scope is none of `image`'s.
    """
    offset, layout = _parts("contains", scope)
    if not isinstance(other, LayoutBase):
        _check_unit("contains", other)
    ids = image(other) if isinstance(other, LayoutBase) else (other,)
    return all(_coordinate(layout, index - offset) is not None for index in ids)


def level_projection(mesh: Mesh, level: str) -> Mesh:
    """The mesh over the units of one level: the axes down to it, with strides in its units.

    Raises:
        NotProjectable: the mesh has no such level, is a slice, or steps over parts of a unit of the level.
        WrongValueError: the axes do not fit the levels.
    """
    if not isinstance(mesh, Mesh):
        raise WrongTypeError(f"level_projection: expected a Mesh, got {mesh!r}", remedy="make one: make_mesh((4, 32))")
    names = [t.name for t in mesh.topologies]
    if level not in names:
        raise NotProjectable(f"level_projection: the mesh has no level '{level}'", remedy=f"it has: {', '.join(names)}")
    if not isinstance(mesh.layout, Layout):
        raise NotProjectable("level_projection: a slice of a mesh has no levels", remedy="project the whole mesh")
    last = names.index(level)
    below = dim_product(t.size for t in mesh.topologies[last + 1 :])
    kept = [axis for axis, number in enumerate(axis_levels(mesh)) if number <= last]
    modes = flat_modes(mesh.layout)
    for axis in kept:
        if modes[axis][0] != 1 and dim_mod(modes[axis][1], below) != 0:
            raise NotProjectable(
                f"level_projection: axis {axis} of {mesh.layout} steps over parts of a unit of '{level}'",
                remedy="let the axes of each level have strides that are multiples of the units below",
            )
    layout = Layout(
        tuple(modes[axis][0] for axis in kept),
        tuple(dim_floordiv(modes[axis][1], below) for axis in kept),
    )
    return Mesh(mesh.topologies[: last + 1], layout, tuple(mesh.names[axis] for axis in kept) if mesh.names else ())


def _check_unit(what: str, index: object) -> None:
    if isinstance(index, bool) or not isinstance(index, int):
        raise WrongTypeError(
            f"{what}: a unit is named by a plain int, got {index!r}", remedy="give its number on its level"
        )


def _parts(what: str, scope: LayoutBase) -> tuple[int, Layout]:
    offset: object = 0
    layout: LayoutBase | None = scope
    if isinstance(scope, ComposedLayout):
        offset, layout = scope.offset, scope.outer if scope.inner is None else None
    if not isinstance(offset, int) or not isinstance(layout, Layout):
        raise NotProjectable(
            f"{what}: {scope} is no scope of a mesh", remedy="give a Layout, or a constant offset and a Layout"
        )
    modes = flat_modes(layout)
    if not all(isinstance(e, int) and isinstance(s, int) for e, s in modes):
        raise NotProjectable(f"{what}: {scope} has symbolic modes", remedy="bind its extents first")
    if not _steps_over(layout):
        raise NotProjectable(
            f"{what}: layout {layout} interleaves its units",
            remedy="each stride must be positive and step over all that the smaller ones reach",
        )
    return offset, layout


def _steps_over(layout: Layout) -> bool:
    """Whether each stride is above all that the smaller ones reach, so that dividing gives the coordinate.

    Inverse projectable layouts are such; so are slices of them, whose strides need not divide any more.
    """
    reached = 0
    for extent, stride in sorted(static_modes(layout), key=lambda mode: mode[1]):
        if extent != 1:
            if stride <= reached:
                return False
            reached += (extent - 1) * stride
    return size(layout) != 0


def _index(layout: Layout, k: int) -> int:
    index = apply(layout, k)
    assert isinstance(index, int)
    return index


def _coordinate(layout: Layout, index: int) -> tuple[int, ...] | None:
    """The flat coordinate of an index, or None; strides step over each other, so the greatest comes out first."""
    modes = static_modes(layout)
    coordinate = [0] * len(flatten(layout.shape))
    for axis in sorted(range(len(modes)), key=lambda k: modes[k][1], reverse=True):
        extent, stride = modes[axis]
        if extent > 1:
            coordinate[axis], index = divmod(index, stride)
            if not 0 <= coordinate[axis] < extent:
                return None
    return tuple(coordinate) if index == 0 else None
