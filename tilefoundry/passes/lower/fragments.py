"""How the axes of a fragment are spread: of each axis its modes, outermost first, and which mesh axis splits each.

What rules need that lay out values between the operands and a result whose layout the author gave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Mesh,
    ShardLayout,
    Split,
    group_modes,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Mode:
    """A factor of an axis, and the number of the mesh axis that splits it."""

    extent: int
    split: int | None = None


Modes = tuple[Mode, ...]

_ONE: Modes = (Mode(1),)  # of an axis of extent 1, as results of ops have it


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
