"""Reduce of a fragment: within an instance, across its warp, or across warps through shared memory."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_product
from tilefoundry.ir.hir import Reduce
from tilefoundry.ir.hir.common import normalize_axes
from tilefoundry.ir.shard import Layout, ShardLayout, shard_layout_local_shape
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred
from tilefoundry.passes.lower.expansion import operand
from tilefoundry.passes.lower.reduce.rows import reduce_tile
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.values import Value
from tilefoundry.passes.modes import crosses_warps, uncombinable


@lowers(Reduce)
def lower_reduce(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Reduce)
    if tensor_type(operand(call)).storage is not StorageKind.RMEM:
        return deferred(call)
    if not op.keepdim:  # the effect keeps the axes; without them it is a view, and without any a scalar
        kept = ctx.fragment(Call(Reduce(op.axes, True, op.kind), call.args, metadata=call.metadata))
        if tensor_type(call).shape:
            return ctx.view(kept, tensor_type(call))
        return ctx.bind("element", tir.Element(), (kept,), TensorType.umat_scalar(tensor_type(call).dtype))
    src = ctx.fragment(call.args[0], call)  # type: ignore[arg-type]  # a tensor: not an int
    dst = ctx.result(call, op.kind.name.lower())
    reduce_fragment(ctx, call, op, src, dst)
    return dst


def reduce_fragment(ctx: Lowering, at: Expr, op: Reduce, src: Var, dst: Var) -> None:
    """Emits a reduction that keeps the axes, between fragments of their own."""
    src_type = tensor_type(src)
    axes = normalize_axes(op.axes, len(src_type.shape))
    if (problem := uncombinable(src_type, axes)) is not None:
        ctx.refuse(at, problem[0], remedy=problem[1])
    if crosses_warps(src_type, axes):
        ctx.emit(tir.Reduce(axes, op.kind), src, dst, ctx.alloc("workspace", _workspace_type(tensor_type(dst))))
    else:
        ctx.emit(tir.Reduce(axes, op.kind), src, dst)


computes_tiles(Reduce)(reduce_tile)
fuses(Reduce)


def _workspace_type(dst: TensorType) -> TensorType:
    """A slot for each result of each instance: at least what the instances that speak for a warp need."""
    assert isinstance(dst.layout, ShardLayout)
    results = dim_product(shard_layout_local_shape(dst.layout))
    slots = dim_product((results, *dst.layout.mesh.shape))
    wide = dst.dtype.bits == 64
    dtype = (DType.f64 if wide else DType.f32) if dst.dtype.is_float else (DType.i64 if wide else DType.i32)
    return TensorType((slots,), dtype, Layout((slots,), (1,)), StorageKind.SMEM)
