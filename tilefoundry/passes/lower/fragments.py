"""How the axes of a fragment are spread: of each axis its modes, outermost first, and which mesh axis splits each.

What rules need that lay out values between the operands and a result whose layout the author gave.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Mesh,
    ShardLayout,
    Split,
    axis_levels,
    group_modes,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import ShapeDim, TensorType


@dataclass(frozen=True, slots=True)
class Mode:
    """A factor of an axis, and the number of the mesh axis that splits it."""

    extent: int
    split: int | None = None


Modes = tuple[Mode, ...]

HELD = 64  # elements of a tile that a unit holds at once; larger reductions are loops over such tiles

_ONE: Modes = (Mode(1),)  # of an axis of extent 1, as results of ops have it
_VECTOR = 4  # neighbours that a unit reads at once
_WARP = 32
_SHORT = 8  # extents of an axis that is not worth an exchange between units
_UNROLLED = 16  # elements of one step of a loop over an axis


def modes_of(type_: TensorType) -> tuple[Modes, ...] | None:
    """The modes of each axis of a fragment, without those of extent 1; None where they are no factors of the axes."""
    layout = type_.layout
    groups = group_modes(layout.shape, type_.shape) if isinstance(layout, ShardLayout) else None
    if groups is None or not isinstance(layout, ShardLayout):
        return None
    if not all(isinstance(attr, (Split, Broadcast)) for attr in layout.attrs):
        return None
    axes = []
    for group in groups:
        modes = []
        for k in group:
            extent, over = layout.shape[k], layout.splitters(k)
            if not isinstance(extent, int) or len(over) > 1:
                return None
            if extent != 1:
                modes.append(Mode(extent, over[0] if over else None))
        axes.append(tuple(modes))
    return tuple(axes)


def extent_of(modes: Modes) -> int:
    """The extent of an axis."""
    return math.prod(mode.extent for mode in modes)


def spread_over(mesh: Mesh, *axes: Modes) -> ShardLayout:
    """The layout of a fragment with these modes, each unit's part apart; mesh axes that split none hold replicas."""
    modes = [mode for axis in axes for mode in axis or _ONE]
    splits = {mode.split: Split(k) for k, mode in enumerate(modes) if mode.split is not None}
    extents = tuple(mode.extent for mode in modes)
    attrs = tuple(splits.get(axis, Broadcast()) for axis in range(mesh.rank))
    layout = ShardLayout(Layout(extents, extents), attrs, mesh)
    return with_strides(layout, per_unit_strides(layout))


def whole(extent: int) -> Modes:
    """An axis that each unit holds whole."""
    return (Mode(extent),) if extent != 1 else ()


def spread_of(*axes: Modes) -> set[int]:
    """The mesh axes that split some axes."""
    return {mode.split for modes in axes for mode in modes if mode.split is not None}


def held_by_each(*axes: Modes) -> int:
    """How many elements of a tile each unit holds."""
    return math.prod(mode.extent for modes in axes for mode in modes if mode.split is None)


def row_modes(mesh: Mesh, others: Sequence[Modes], extent: int) -> Modes:
    """How all of an axis is spread over the units that the other axes of a tile leave alike; maybe some elements more.

    Who computes with whole rows takes these modes, so that equal windows have equal layouts.
    """
    splits = _free_units(mesh, others, extent)
    share = -(-extent // extent_of(splits))
    if not splits or share < _VECTOR:
        return splits + whole(share)
    return whole(-(-share // _VECTOR)) + splits + whole(_VECTOR)


def step_modes(mesh: Mesh, others: Sequence[Modes], extent: ShapeDim) -> Modes:
    """How one step of a loop over an axis is spread likewise, so that each unit holds at most `HELD` elements."""
    splits = _free_units(mesh, others, extent if isinstance(extent, int) else None)
    most = max(1, min(_UNROLLED, HELD // held_by_each(*others)))
    if not splits:
        return whole(most)
    vector = min(_VECTOR, most)
    step = extent_of(splits) * vector
    counts = [c for c in range(most // vector, 0, -1) if isinstance(extent, int) and extent % (c * step) == 0]
    return whole(counts[0] if counts else most // vector) + splits + whole(vector)


def one_axis_of_units(mesh: Mesh, others: Sequence[Modes], extent: int) -> Modes:
    """The largest mesh axis within a warp that the other axes leave alike, for an axis of that extent."""
    free = [mode for mode in _free_units(mesh, others, None) if mode.extent <= _WARP]
    return (max(free, key=lambda mode: mode.extent),) if free and extent > _SHORT else ()


def _free_units(mesh: Mesh, others: Sequence[Modes], extent: int | None) -> Modes:
    """The mesh axes that split none of the others, the innermost ones that suffice for an extent."""
    if extent is not None and extent <= _SHORT:
        return ()
    taken = spread_of(*others)
    splits: Modes = ()
    for axis in reversed(range(mesh.rank)):
        count, level = mesh.shape[axis], mesh.topologies[axis_levels(mesh)[axis]].name
        combines = isinstance(count, int) and count & (count - 1) == 0 and level != "cta"
        if axis in taken or not combines or count == 1:
            continue
        if extent is not None and splits and extent_of(splits) * _VECTOR >= extent:
            break
        assert isinstance(count, int)
        splits = (Mode(count, axis), *splits)
    return splits


def alike(modes: Modes, extent: int, *, exact: bool = False) -> Modes:
    """An axis of `extent` elements, or of some more unless it must be `exact`, spread like another one.

    Its first mode is what it needs. The others stay as they are if they do not more than double the axis; else those
    that are split; else each unit holds the axis whole.
    """
    tail = modes[1:] if modes and modes[0].split is None else modes
    for rest in (tail, tuple(mode for mode in tail if mode.split is not None), ()):
        step = extent_of(rest)
        if extent % step == 0 if exact else step <= 2 * extent:
            return whole(-(-extent // step)) + rest
    raise AssertionError("an axis of which no unit has a part of its own always fits")


def in_two(modes: Modes, extent: int) -> tuple[Modes, Modes] | None:
    """The factors of an axis in two: outer ones, and inner ones of `extent` elements; None where one straddles."""
    tail: list[Mode] = []
    head = list(modes)
    while head and extent_of(tuple(tail)) * head[-1].extent <= extent:
        tail.insert(0, head.pop())
    missing, odd = divmod(extent, extent_of(tuple(tail)))
    if odd:
        return None
    if missing > 1:
        if not head or head[-1].split is not None or head[-1].extent % missing:
            return None
        broken = head.pop().extent
        head.append(Mode(broken // missing))
        tail.insert(0, Mode(missing))
    return tuple(head), tuple(tail)
