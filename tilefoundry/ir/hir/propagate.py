"""Where a result lies, given where the operands lie.

Each axis of an operand stands for a *dimension of the iteration* (an int label), or for none when it is broadcast from
extent 1. The modes of a shard layout are grouped by axis, so each dimension comes with a factorisation and the mesh
axes that split it; operands must agree on it. A dimension that reaches the result stays split there; one that is
reduced leaves its mesh axes Broadcast (the op completes the reduction) or Partial (it does not).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.arith import dim_mul
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import (
    Broadcast,
    Dynamic,
    Layout,
    Mesh,
    Partial,
    ShardAttr,
    ShardLayout,
    Split,
    c_order_strides,
    format_int_tuple,
    group_modes,
    per_unit_strides,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.types import AnyLayout, StorageKind, TensorType

Label = int | None
PartialRule = Callable[[Sequence[ShardAttr]], Partial | None]


@dataclass(frozen=True, slots=True)
class Mode:
    """A factor of a dimension and the mesh axes that split it."""

    extent: Dim
    axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """An operand and the dimension that each of its axes stands for."""

    name: str
    type: TensorType
    labels: tuple[Label, ...]


def lies_apart(storage: StorageKind) -> bool:
    """Whether each unit holds its own elements: registers, and what has no residency yet."""
    return storage in (StorageKind.RMEM, StorageKind.UMAT)


def fresh_plain(shape: Sequence[Dim], storage: StorageKind) -> Layout:
    """The layout of a fresh unsharded value: row-major; in registers, axes of extent 1 have stride 0."""
    strides = c_order_strides(shape)
    if lies_apart(storage):
        strides = tuple(0 if e == 1 else s for e, s in zip(shape, strides, strict=True))
    return Layout(tuple(shape), strides)


def fresh_strides(sl: ShardLayout, storage: StorageKind) -> ShardLayout:
    """The same placement with the strides of a fresh value in this storage."""
    return with_strides(sl, per_unit_strides(sl) if lies_apart(storage) else shared_strides(sl))


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


def no_partial(states: Sequence[ShardAttr]) -> Partial | None:
    """The rule of an op that no Partial passes through."""
    return None


def propagate(
    ctx: TypeContext,
    operands: Sequence[Placed],
    out_labels: Sequence[Label],
    out_shape: Sequence[Dim],
    storage: StorageKind,
    *,
    partial_rule: PartialRule = no_partial,
    reduced_is_partial: bool = False,
) -> AnyLayout | None:
    """The layout of a result.

    Args:
        out_labels: the dimension of each result axis; None for an axis that no operand places.
        partial_rule: from the attributes that the operands have on one mesh axis, at least one of them Partial, to the
            result's Partial, or None to refuse. Operands without shard layout count as Broadcast.
        reduced_is_partial: a split dimension that the result lacks leaves Partial("sum"), not Broadcast.
    """
    sharded = [op for op in operands if isinstance(op.type.layout, ShardLayout)]
    if not sharded:
        open_ = all(op.type.layout is None or not op.type.rank for op in operands) and not lies_apart(storage)
        return None if open_ else fresh_plain(out_shape, storage)
    mesh = _one_mesh(ctx, sharded)
    dims = _dimensions(ctx, operands)
    return _assemble(ctx, operands, mesh, dims, out_labels, out_shape, storage, partial_rule, reduced_is_partial)


def known_placement(ctx: TypeContext, name: str, t: TensorType) -> None:
    """Refuses an operand whose placement is Dynamic."""
    if isinstance(t.layout, ShardLayout) and any(isinstance(attr, Dynamic) for attr in t.layout.attrs):
        ctx.error(f"operand '{name}' has a Dynamic placement", "tf.reshard it to a known placement first")


def _one_mesh(ctx: TypeContext, sharded: Sequence[Placed]) -> Mesh:
    meshes = [op.type.layout.mesh for op in sharded if isinstance(op.type.layout, ShardLayout)]
    for op, mesh in zip(sharded, meshes, strict=True):
        if mesh != meshes[0]:
            ctx.error(
                f"operands '{sharded[0].name}' and '{op.name}' are spread over different meshes",
                "tf.reshard one of them over the mesh of the other",
            )
    return meshes[0]


def _dimensions(ctx: TypeContext, operands: Sequence[Placed]) -> dict[int, tuple[Mode, ...]]:
    """The factorisation of each dimension, on which all operands that have it agree."""
    found: dict[int, tuple[str, tuple[Mode, ...]]] = {}
    for op in operands:
        layout = op.type.layout
        if isinstance(layout, ShardLayout):
            known_placement(ctx, op.name, op.type)
            groups = modes_of(layout, op.type.shape)
            if groups is None:
                ctx.error(
                    f"modes {format_int_tuple(layout.layout.shape)} of operand '{op.name}' straddle its axes "
                    f"{format_int_tuple(op.type.shape)}",
                    "tf.reshard it, each axis factored on its own",
                )
        else:
            groups = tuple((Mode(extent),) for extent in op.type.shape)
        for label, modes in zip(op.labels, groups, strict=True):
            if label is None:
                continue
            first = found.setdefault(label, (op.name, modes))
            if coalesced(first[1]) != coalesced(modes):
                ctx.error(
                    f"operands '{first[0]}' and '{op.name}' are placed differently along one axis: "
                    f"{_describe(first[1], operands)} against {_describe(modes, operands)}",
                    f"tf.reshard '{op.name}' to the placement of '{first[0]}'",
                )
            if len(modes) > len(first[1]):
                found[label] = (first[0], modes)
    return {label: modes for label, (_, modes) in found.items()}


def _describe(modes: Sequence[Mode], operands: Sequence[Placed]) -> str:
    names: tuple[str, ...] = ()
    for op in operands:
        if isinstance(op.type.layout, ShardLayout):
            names = op.type.layout.mesh.names
            break
    parts = []
    for mode in modes:
        axes = " ".join(f"@ {names[a] if names else a}" for a in mode.axes)
        parts.append(f"{format_dim(mode.extent)} {axes}".strip())
    return f"({', '.join(parts)})"


def _assemble(
    ctx: TypeContext,
    operands: Sequence[Placed],
    mesh: Mesh,
    dims: dict[int, tuple[Mode, ...]],
    out_labels: Sequence[Label],
    out_shape: Sequence[Dim],
    storage: StorageKind,
    partial_rule: PartialRule,
    reduced_is_partial: bool,
) -> ShardLayout:
    shape: list[Dim] = []
    attrs: dict[int, ShardAttr] = {}

    def claim(axis: int, attr: ShardAttr) -> None:
        if axis in attrs:
            ctx.error(
                f"mesh axis '{mesh.names[axis] if mesh.names else axis}' splits two axes of the operation",
                "tf.reshard an operand, so that the mesh axis splits one of them",
            )
        attrs[axis] = attr

    for label, extent in zip(out_labels, out_shape, strict=True):
        modes = dims.get(label, ()) if label is not None else ()
        for mode in modes or (Mode(extent),):
            for axis in mode.axes:
                claim(axis, Split(len(shape)))
            shape.append(mode.extent)
    for label, modes in dims.items():
        if label not in out_labels:
            for axis in (a for mode in modes for a in mode.axes):
                claim(axis, Partial("sum") if reduced_is_partial else Broadcast())
    for axis in range(mesh.rank):
        states = [
            op.type.layout.attrs[axis] if isinstance(op.type.layout, ShardLayout) else Broadcast() for op in operands
        ]
        partials = [s for s in states if isinstance(s, Partial)]
        if partials:
            passed = partial_rule(states)
            if passed is None:
                name = mesh.names[axis] if mesh.names else str(axis)
                ctx.error(
                    f"the value is {partials[0]} along mesh axis '{name}' and cannot pass through in that state",
                    "complete it first by an explicit tf.reshard",
                )
            claim(axis, passed)
    layout = ShardLayout(Layout(tuple(shape)), tuple(attrs.get(m, Broadcast()) for m in range(mesh.rank)), mesh)
    return fresh_strides(layout, storage)
