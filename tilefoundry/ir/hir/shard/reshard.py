"""Reshard: the same value, placed otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.shard import (
    Layout,
    Partial,
    ShardLayout,
    Split,
    flatten,
    format_int_tuple,
    group_modes,
    is_per_unit,
    known_injective,
    per_unit_strides,
    shard_layout_local_shape,
    shared_strides,
    with_strides,
)
from tilefoundry.ir.types import StorageKind, TensorType, resolve_storage

# how far a memory is from the execution units; what has no residency yet counts as registers
_DISTANCE = {
    StorageKind.UMAT: 0,
    StorageKind.RMEM: 0,
    StorageKind.TMEM: 0,
    StorageKind.SMEM: 1,
    StorageKind.GMEM: 2,
    StorageKind.HOST: 3,
}


@register_op(category="shard")
@dataclass(frozen=True, slots=True)
class Reshard(Op):
    """`x` in another layout or storage; the logical value is the same. Completes a Partial that `layout` lacks.

    Shapes: x (*A) -> A

    Attributes:
        layout: where each element goes. Strides that are None are decided here: the same storage keeps the source's
            form, a farther one is shared and row-major, a nearer one holds each unit's part apart. Given strides stay.
        storage: a StorageKind or its name; None keeps the source's.
    """

    x: ClassVar[ParamDef] = ParamDef()
    layout: Layout | ShardLayout | None = None
    storage: StorageKind | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "storage", resolve_storage(self.storage))
        if self.layout is not None and not isinstance(self.layout, (Layout, ShardLayout)):
            raise WrongTypeError(
                f"reshard: layout must be a Layout or ShardLayout, got {self.layout!r}", remedy="write (4 @ m.x, 64)"
            )

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The operand's shape and dtype, with the layout's strides decided."""
        t = tensor_operand(ctx, "x", x)
        if self.layout is None and self.storage is None:
            ctx.error("neither a layout nor a storage is given", 'write tf.reshard(x, (64, 64), "smem")')
        storage = self.storage if self.storage is not None else t.storage
        if storage is StorageKind.UMAT:
            ctx.error("umat is no destination", 'name a storage: "gmem", "smem" or "rmem"')
        if self.layout is None:
            if storage is not t.storage:
                ctx.error(
                    f"a storage change requires a layout ({t.storage} to {storage})",
                    "give the layout as the second argument",
                )
            return t
        modes = flatten(self.layout.shape)
        have, want = dim_product(t.shape), dim_product(modes)
        if not dim_equal(have, want):
            proven = isinstance(have, int) and isinstance(want, int)
            ctx.error(
                f"layout {format_int_tuple(modes)} {'does not hold' if proven else 'cannot be proven to hold'} "
                f"as many elements as {format_int_tuple(t.shape)}",
                remedy="write entries whose product is the number of elements",
            )
        layout = (
            _sharded(ctx, t, self.layout, storage)
            if isinstance(self.layout, ShardLayout)
            else _plain(ctx, t, self.layout, storage)
        )
        return TensorType(t.shape, t.dtype, layout, storage)


def _plain(ctx: TypeContext, t: TensorType, layout: Layout, storage: StorageKind) -> Layout:
    """A layout without mesh; factors of an axis are accepted and merged when the strides are open."""
    fits = layout.rank == t.rank and all(
        not isinstance(a, tuple) and dim_equal(a, b) for a, b in zip(layout.shape, t.shape, strict=True)
    )
    if layout.strides is None:
        if not fits and (any(isinstance(e, tuple) for e in layout.shape) or group_modes(layout.shape, t.shape) is None):
            ctx.error(
                f"layout {format_int_tuple(layout.shape)} does not factor the axes of {format_int_tuple(t.shape)}",
                remedy="factor each axis on its own, in order: (4 @ m.x, 2, 64) for (8, 64)",
            )
        return fresh_plain(t.shape, storage)
    if not fits:
        ctx.error(
            f"layout {layout} has explicit strides, so its extents must be those of {format_int_tuple(t.shape)}",
            "write one extent and one stride for each axis",
        )
    return layout


def _sharded(ctx: TypeContext, t: TensorType, target: ShardLayout, storage: StorageKind) -> ShardLayout:
    _check_factors(ctx, target)
    _check_partial(ctx, t, target)
    if target.layout.strides is not None:
        _check_strides(ctx, target)
        return target
    source, wanted = _DISTANCE[t.storage], _DISTANCE[storage]
    apart = wanted < source
    if wanted == source:
        split = isinstance(t.layout, ShardLayout) and any(isinstance(a, Split) for a in t.layout.attrs)
        apart = is_per_unit(t.layout) if split and isinstance(t.layout, ShardLayout) else wanted == 0
    return with_strides(target, per_unit_strides(target) if apart else shared_strides(target))


def _check_factors(ctx: TypeContext, target: ShardLayout) -> None:
    """Each split mode must be as large as the one mesh axis that splits it."""
    for mode, extent in enumerate(target.shape):
        axes = target.splitters(mode)
        if len(axes) > 1 or (axes and not dim_equal(extent, target.mesh.shape[axes[0]])):
            names = ", ".join(target.mesh.names[a] if target.mesh.names else str(a) for a in axes)
            ctx.error(
                f"mode {mode} of extent {format_dim(extent)} is split over mesh axes {names} of extents "
                f"{format_int_tuple(tuple(target.mesh.shape[a] for a in axes))}",
                "factor it, so that each split mode is as large as its mesh axis",
            )
    shard_layout_local_shape(target, require_static=False)  # refuses what does not divide


def _check_strides(ctx: TypeContext, target: ShardLayout) -> None:
    """Explicit strides give each element a place of its own; a split mode of stride 0 is held apart by each unit."""
    assert target.layout.strides is not None
    strides = flatten(target.layout.strides)
    kept = [k for k in range(len(target.shape)) if strides[k] != 0 or not target.splitters(k)]
    if not known_injective(Layout(tuple(target.shape[k] for k in kept), tuple(strides[k] for k in kept))):
        ctx.error(
            f"layout {target.layout} puts two elements into one place, expected an injective layout",
            "choose strides that step over what the smaller ones reach, or leave them out",
        )


def _check_partial(ctx: TypeContext, t: TensorType, target: ShardLayout) -> None:
    """A Reshard completes Partial values; it cannot make them."""
    source = t.layout if isinstance(t.layout, ShardLayout) else None
    for axis, attr in enumerate(target.attrs):
        held = source.attrs[axis] if source is not None and source.mesh == target.mesh else None
        if isinstance(attr, Partial) and held != attr:
            name = target.mesh.names[axis] if target.mesh.names else str(axis)
            ctx.error(
                f"the value is not {attr} along mesh axis '{name}', so it cannot be placed as such",
                remedy="place it without the state; an op makes partial values",
            )
