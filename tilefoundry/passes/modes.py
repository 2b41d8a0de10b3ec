"""Views that follow from how the modes of a layout divide among the logical axes.

A canonical layout lists, for each logical axis in order, the factors of that axis; a tile of shape (64, 64) laid out as
(4 @ w, 2, 8 @ g | 8, 4 @ t, 2) has three modes for each of its axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilefoundry.ir.dims import dim_mul
from tilefoundry.ir.hir.shape.reshape import view_strides
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    ShardLayout,
    Split,
    axis_levels,
    flat_modes,
    group_modes,
    in_axis_order,
)
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType


def broadcast_type(operand: TensorType, to: TensorType) -> TensorType | None:
    """The type under which a fragment is read element by element as one of type ``to``; None where factors differ.

    On an axis of extent 1 (or one that the operand lacks) the operand has the modes of ``to`` with stride 0.
    """
    source, target = operand.layout, to.layout
    if not isinstance(source, ShardLayout) or not isinstance(target, ShardLayout):
        return None
    if source.mesh != target.mesh and not all(isinstance(attr, Broadcast) for attr in source.attrs):
        return None  # what all instances hold whole is the same on every mesh of them
    if operand.shape == to.shape and source == target:
        return operand
    source_groups = group_modes(source.shape, operand.shape)
    target_groups = group_modes(target.shape, to.shape)
    if source_groups is None or target_groups is None or source.layout.strides is None:
        return None
    source_strides = _strides(source.layout)
    strides: list[ShapeDim] = [0] * target.rank
    lacking = len(to.shape) - len(operand.shape)
    for axis, modes in enumerate(target_groups):
        own = source_groups[axis - lacking] if axis >= lacking else ()
        if not own or (operand.shape[axis - lacking] == 1 and to.shape[axis] != 1):
            continue
        if [source.shape[m] for m in own] != [target.shape[m] for m in modes]:
            refactored = _other_factors(source, own, target, modes)
            if refactored is None:
                return None
            for stride, theirs in zip(refactored, modes, strict=True):
                strides[theirs] = stride
            continue
        if [source.splitters(m) for m in own] != [target.splitters(m) for m in modes]:
            return None
        for mine, theirs in zip(own, modes, strict=True):
            strides[theirs] = source_strides[mine]
    layout = ShardLayout(Layout(target.shape, tuple(strides)), target.attrs, target.mesh)
    return TensorType(to.shape, operand.dtype, layout, operand.storage)


def held(type_: TensorType) -> TensorType:
    """How registers hold a value of this type: with the modes of each axis in order, outermost first."""
    if type_.storage is not StorageKind.RMEM or not isinstance(type_.layout, ShardLayout):
        return type_
    layout = in_axis_order(type_.layout, type_.shape)
    return type_ if layout is type_.layout else replace(type_, layout=layout)


def _other_factors(
    source: ShardLayout, own: Sequence[int], target: ShardLayout, modes: Sequence[int]
) -> list[ShapeDim] | None:
    """Strides under the factors of another layout of an axis that is split alike; None where there are none."""
    held, wanted = _runs(source, own), _runs(target, modes)
    if [axes for axes, _ in held] != [axes for axes, _ in wanted]:
        return None
    source_strides = _strides(source.layout)
    strides: dict[int, ShapeDim] = dict.fromkeys(modes, 0)
    for (axes, mine), (_, theirs) in zip(held, wanted, strict=True):
        run = Layout(tuple(source.shape[m] for m in mine), tuple(source_strides[m] for m in mine))
        found = view_strides(run, [target.shape[m] for m in theirs])
        if found is None or (axes and source.shape[mine[0]] != target.shape[theirs[0]]):
            return None
        strides.update(zip(theirs, found, strict=True))
    return [strides[m] for m in modes]


def _runs(layout: ShardLayout, modes: Sequence[int]) -> list[tuple[tuple[int, ...], list[int]]]:
    """The modes of an axis, each split one apart, those between them together: the mesh axes that split, the modes."""
    runs: list[tuple[tuple[int, ...], list[int]]] = []
    for mode in modes:
        axes = tuple(layout.splitters(mode))
        if not axes and layout.shape[mode] == 1:
            continue
        if axes or not runs or runs[-1][0]:
            runs.append((axes, []))
        runs[-1][1].append(mode)
    return runs


def fragment_view_type(tile: TensorType, fragment: TensorType) -> TensorType | None:
    """The type under which the instances of ``fragment`` see their parts of a tile; None where modes straddle axes.

    Each mode of an axis steps by the axis' stride times the extents of the modes after it.
    """
    plain, target = tile.layout, fragment.layout
    if not isinstance(plain, Layout) or not isinstance(target, ShardLayout) or plain.strides is None:
        return None
    groups = group_modes(target.shape, fragment.shape)
    if groups is None or tile.shape != fragment.shape:
        return None
    strides: list[ShapeDim] = [0] * target.rank
    for modes, axis_stride in zip(groups, _strides(plain), strict=True):
        step = axis_stride
        for mode in reversed(modes):
            strides[mode] = step if target.shape[mode] != 1 else 0
            step = dim_mul(step, target.shape[mode])
    layout = ShardLayout(Layout(target.shape, tuple(strides)), target.attrs, target.mesh)
    return TensorType(tile.shape, tile.dtype, layout, tile.storage)


def crosses_warps(fragment: TensorType, axes: Sequence[int]) -> bool:
    """Whether a logical axis among ``axes`` is spread over threads of more than one warp."""
    return any(axis.extent * axis.stride > _WARP for axis in _spread(fragment, axes))


def crosses_instances(fragment: TensorType, axes: Sequence[int]) -> bool:
    """Whether a logical axis among ``axes`` is spread over several instances."""
    return any(axis.extent != 1 for axis in _spread(fragment, axes))


def uncombinable(fragment: TensorType, axes: Sequence[int]) -> tuple[str, str] | None:
    """Why instances cannot combine their parts along ``axes``, and what to do; None when they can.

    Lanes of a warp combine by exchanging with the lane at distance 1, 2, 4, ..., so extents and distances of mesh axes
    within a warp are powers of two. CTAs do not exchange at all.
    """
    for axis in _spread(fragment, axes):
        if axis.extent == 1:
            continue
        if axis.level == "cta":
            return (
                f"the reduced axis is spread over {axis.extent} CTAs, which cannot exchange values",
                "spread it over threads, or reduce the parts of the CTAs in another kernel",
            )
        lanes = axis.extent if axis.extent * axis.stride <= _WARP else _WARP // axis.stride
        if axis.stride < _WARP and not (
            _power_of_two(axis.stride) and _power_of_two(lanes) and axis.extent % lanes == 0
        ):
            return (
                f"the reduced axis is spread over {axis.extent} threads at a distance of {axis.stride}, and lanes of a "
                "warp combine in powers of two only",
                "give the mesh axes within a warp extents that are powers of two",
            )
    return None


_WARP = 32


@dataclass(frozen=True, slots=True)
class _MeshAxis:
    """A mesh axis that splits a reduced axis: its topology level, extent, and distance between neighbours."""

    level: str
    extent: int
    stride: int


def _spread(fragment: TensorType, axes: Sequence[int]) -> list[_MeshAxis]:
    layout = fragment.layout
    if not isinstance(layout, ShardLayout):
        return []
    groups = group_modes(layout.shape, fragment.shape)
    mesh = layout.mesh.layout
    assert groups is not None and isinstance(mesh, Layout)  # checked when the fragment was typed
    modes = {mode for axis in axes for mode in groups[axis]}
    found = []
    for (extent, stride), level, attr in zip(flat_modes(mesh), axis_levels(layout.mesh), layout.attrs, strict=True):
        if isinstance(attr, Split) and attr.axis in modes:
            assert isinstance(extent, int) and isinstance(stride, int)  # fragments are static
            found.append(_MeshAxis(layout.mesh.topologies[level].name, extent, stride))
    return found


def _power_of_two(value: int) -> bool:
    return value & (value - 1) == 0


def _strides(layout: Layout) -> tuple[ShapeDim, ...]:
    return tuple(stride for _, stride in flat_modes(layout))
