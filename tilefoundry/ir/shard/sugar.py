"""Layouts as authors write them: ``(4 @ t.w, 2, 8 @ t.g, 64)``."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard.attrs import Broadcast, Partial, ShardAttr, Split
from tilefoundry.ir.shard.canonical import factor_extent
from tilefoundry.ir.shard.layout import Layout
from tilefoundry.ir.shard.mesh import Mesh, MeshAxis, composed
from tilefoundry.ir.shard.placed import Placed
from tilefoundry.ir.shard.shard_layout import ShardLayout


def layout_from_sugar(
    entries: Sequence[Dim | Placed],
    value_states: Sequence[tuple[MeshAxis, Partial]] = (),
    strides: Sequence[Dim] | None = None,
    meshes: Sequence[Mesh] = (),
) -> Layout | ShardLayout:
    """The layout that an author's entries mean.

    An entry ``N @ axis`` with N above the axis' extent becomes two modes, the extent and the rest. Mesh axes that no
    entry names are Broadcast. Without any named axis the result is a plain Layout.

    Args:
        value_states: mesh axes along which the value is Partial.
        strides: one for each entry, kept as they are; None leaves them to the Reshard.
        meshes: the scopes in force, outermost first; they order the meshes that entries name.

    Raises:
        WrongValueError: an axis is named twice, an extent does not divide, or strides are given for an entry that is
            factored.
    """
    named = [axis for e in entries if isinstance(e, Placed) for axis in e.axes] + [axis for axis, _ in value_states]
    for i, axis in enumerate(named):
        if axis in named[:i]:
            raise WrongValueError(
                f"mesh axis '{axis.name}' is named twice in one layout", remedy="split one mode over it"
            )
    if strides is not None and len(strides) != len(entries):
        raise WrongValueError(
            f"{len(strides)} strides for {len(entries)} entries, expected one for each",
            remedy="write ((shape), (strides)) with as many of both",
        )
    modes: list[Dim] = []
    splits: dict[MeshAxis, ShardAttr] = dict(value_states)
    for entry in entries:
        if not isinstance(entry, Placed):
            modes.append(entry)
            continue
        factors = factor_extent(entry.extent, [axis.extent for axis in entry.axes])
        if strides is not None and len(factors) > 1:
            raise WrongValueError(
                f"extent {format_dim(entry.extent)} is factored into {factors}, so its one stride is not enough",
                remedy="write each factor as an entry of its own",
            )
        for position, axis in enumerate(entry.axes):
            splits[axis] = Split(len(modes) + position)
        modes.extend(factors)
    layout = Layout(tuple(modes), tuple(strides) if strides is not None else None)
    used = _in_order([axis.mesh for axis in named], meshes)
    if not used:
        return layout
    attrs = [splits.get(MeshAxis(mesh, axis), Broadcast()) for mesh in used for axis in range(mesh.rank)]
    return ShardLayout(layout, tuple(attrs), composed(used))


def _in_order(used: Sequence[Mesh], scopes: Sequence[Mesh]) -> list[Mesh]:
    """The distinct meshes, in the order of the scopes; those outside any scope in the order of use."""
    distinct = [m for i, m in enumerate(used) if m not in used[:i]]
    return [m for m in scopes if m in distinct] + [m for m in distinct if m not in scopes]
