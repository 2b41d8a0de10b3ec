"""Views that follow from how the modes of a layout divide among the logical axes.

A canonical layout lists, for each logical axis in order, the factors of that axis; a tile of shape (64, 64) laid out as
(4 @ w, 2, 8 @ g | 8, 4 @ t, 2) has three modes for each of its axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.dims import dim_mul
from tilefoundry.ir.shard import Layout, ShardLayout, Split, flat_modes, group_modes
from tilefoundry.ir.types import ShapeDim, TensorType


def broadcast_type(operand: TensorType, to: TensorType) -> TensorType | None:
    """The type under which a fragment is read element by element as one of type ``to``; None where factors differ.

    On an axis of extent 1 (or one that the operand lacks) the operand has the modes of ``to`` with stride 0.
    """
    source, target = operand.layout, to.layout
    if not isinstance(source, ShardLayout) or not isinstance(target, ShardLayout) or source.mesh != target.mesh:
        return None
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
            return None
        if [source.splitters(m) for m in own] != [target.splitters(m) for m in modes]:
            return None
        for mine, theirs in zip(own, modes, strict=True):
            strides[theirs] = source_strides[mine]
    layout = ShardLayout(Layout(target.shape, tuple(strides)), target.attrs, target.mesh)
    return TensorType(to.shape, operand.dtype, layout, operand.storage)


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


def crosses_warps(fragment: TensorType, axes: Sequence[int], warp: int = 32) -> bool:
    """Whether a logical axis among ``axes`` is spread over threads of more than one warp."""
    for extent, stride in _mesh_axes_of(fragment, axes):
        if not isinstance(extent, int) or not isinstance(stride, int) or extent * stride > warp:
            return True
    return False


def crosses_instances(fragment: TensorType, axes: Sequence[int]) -> bool:
    """Whether a logical axis among ``axes`` is spread over several instances."""
    return any(extent != 1 for extent, _ in _mesh_axes_of(fragment, axes))


def _mesh_axes_of(fragment: TensorType, axes: Sequence[int]) -> list[tuple[ShapeDim, ShapeDim]]:
    """Extent and stride of the mesh axes that split a logical axis among ``axes``."""
    layout = fragment.layout
    if not isinstance(layout, ShardLayout):
        return []
    groups = group_modes(layout.shape, fragment.shape)
    mesh = layout.mesh.layout
    assert groups is not None and isinstance(mesh, Layout)  # checked when the fragment was typed
    modes = {mode for axis in axes for mode in groups[axis]}
    return [
        mesh_axis
        for mesh_axis, attr in zip(flat_modes(mesh), layout.attrs, strict=True)
        if isinstance(attr, Split) and attr.axis in modes
    ]


def _strides(layout: Layout) -> tuple[ShapeDim, ...]:
    return tuple(stride for _, stride in flat_modes(layout))
