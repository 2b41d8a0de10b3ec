"""The factors of a placed axis, and which mesh axes split them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.ir.dims.arith import dim_mul
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import Mesh, ShardLayout, group_modes


@dataclass(frozen=True, slots=True)
class Mode:
    """A factor of a dimension and the mesh axes that split it."""

    extent: Dim
    axes: tuple[int, ...] = ()


def modes_of(sl: ShardLayout, shape: Sequence[Dim]) -> tuple[tuple[Mode, ...], ...] | None:
    """The modes of each logical axis, or None when a mode straddles two axes."""
    groups = group_modes(sl.shape, shape)
    if groups is None:
        return None
    return tuple(tuple(Mode(sl.shape[k], sl.splitters(k)) for k in group) for group in groups)


def coalesced(modes: Sequence[Mode]) -> tuple[Mode, ...]:
    """The placement without its factorisation: modes of extent 1 dropped, neighbours that nothing splits merged."""
    result: list[Mode] = []
    for mode in modes:
        if mode.extent == 1 and not mode.axes:
            continue
        if result and not result[-1].axes and not mode.axes:
            result[-1] = Mode(dim_mul(result[-1].extent, mode.extent))
        else:
            result.append(mode)
    return tuple(result)


def is_split(modes: Sequence[Mode]) -> bool:
    """Whether a mesh axis of more than one unit splits one of them."""
    return any(mode.axes and mode.extent != 1 for mode in modes)


def describe_modes(modes: Sequence[Mode], mesh: Mesh) -> str:
    """As an author writes them: ``(4 @ w, 16)``."""
    parts = [" ".join((format_dim(mode.extent), *(f"@ {axis_name(mesh, a)}" for a in mode.axes))) for mode in modes]
    return f"({', '.join(parts)})"


def axis_name(mesh: Mesh, axis: int) -> str:
    """The name of a mesh axis, or its number where the mesh names none."""
    return mesh.names[axis] if mesh.names else str(axis)
