"""Where elements are along an axis that each unit holds whole: what ArgMax, ArgMin and TopK share."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Arange, BinaryKind, Reduce, ReduceKind, Reshape, Reshard
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.shard import Broadcast, Layout, ShardLayout
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand


def first_extremum(p: Primitives, call: Call, kind: ReduceKind, axis: int) -> Expr:
    """Where the extremum along the axis is first reached. NaN counts as one, since the reduction carries it."""
    x = operand(call)
    t = tensor_type(x)
    axis = normalize_axis(axis, t.rank)
    best = p.reduce(kind, x, (axis,))
    is_best = p.binary(BinaryKind.EQ, x, best)
    if t.dtype.is_float:
        is_best = p.binary(BinaryKind.OR, is_best, p.binary(BinaryKind.NE, x, x))
    return first_place(p, t, axis, is_best, keepdim=False)


def first_place(p: Primitives, t: TensorType, axis: int, holds: Expr, *, keepdim: bool) -> Expr:
    """The least index along an axis of `t` where the condition holds; the extent of the axis where it never does."""
    place = p.where(holds, positions(p, t, axis, t.shape[axis]), t.shape[axis])
    return p.call(Reduce((axis,), keepdim, ReduceKind.MIN), place)


def positions(p: Primitives, t: TensorType, axis: int, extent: ShapeDim) -> Expr:
    """0, 1, 2, ... up to an extent along an axis, whole on every unit that holds a part of `t`."""
    shape = tuple(extent if k == axis else 1 for k in range(t.rank))
    ramp = p.call(Reshape(shape), p.call(Arange(make_tensor_type((extent,), "i64"))))
    if t.storage not in (StorageKind.RMEM, StorageKind.SMEM):
        return ramp
    if not isinstance(t.layout, ShardLayout):
        return p.call(Reshard(Layout(shape), t.storage), ramp)
    mesh = t.layout.mesh
    return p.call(Reshard(ShardLayout(Layout(shape), (Broadcast(),) * mesh.rank, mesh), t.storage), ramp)
