"""Products of fragments: each instance multiplies what it holds. Where K is split, that is a term of the sum."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.hir import MatMul
from tilefoundry.ir.shard import Broadcast, Layout, ShardAttr, ShardLayout, Split, group_modes
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.modes import held


def is_local(expr: Expr) -> bool:
    """Whether ``expr`` is a product of two fragments."""
    return (
        isinstance(expr, Call)
        and isinstance(expr.target, MatMul)
        and all(isinstance(x, Expr) and tensor_type(x).storage is StorageKind.RMEM for x in expr.args)
    )


def local_product(ctx: Lowering, call: Call) -> Var:
    """The product in the type of the call, or each instance's term of it."""
    sums = exact_product(ctx, call)
    if tensor_type(sums).dtype is tensor_type(call).dtype:
        return sums
    dst = ctx.result(call, "product")
    ctx.emit(tir.Cast(), sums, dst)
    return dst


def exact_product(ctx: Lowering, call: Call) -> Var:
    """The product as it is accumulated: in f32 where its type is narrower, so that terms are rounded once, added up."""
    to = held(tensor_type(call))
    lhs, rhs = (ctx.fragment(x, call) for x in call.args if isinstance(x, Expr))
    if to.dtype.is_float and to.dtype.bits < 32:
        to = replace(to, dtype=DType.f32)
    acc = ctx.alloc(binding_name(call) or "product", to)
    ctx.emit(tir.Fill(0.0 if to.dtype.is_float else 0), acc)
    ctx.emit(tir.LocalMatmul(), acc, *(_over_batch(ctx, call, x, to) for x in (lhs, rhs)))
    return acc


def _over_batch(ctx: Lowering, call: Call, operand: Var, to: TensorType) -> Var:
    """An operand with the leading axes of the product: the same matrix again where it lacks one, or has extent 1."""
    type_ = tensor_type(operand)
    if type_.shape[:-2] == to.shape[:-2]:
        return operand
    own, target = type_.layout, to.layout
    assert isinstance(own, ShardLayout) and isinstance(target, ShardLayout)
    own_groups, groups = group_modes(own.shape, type_.shape), group_modes(target.shape, to.shape)
    assert own_groups is not None and groups is not None  # of fragments
    leading = [mode for group in groups[:-2] for mode in group]
    matrix = [mode for group in own_groups[-2:] for mode in group]
    at = {mode: k for k, mode in enumerate(leading)}
    moved = {mode: len(leading) + k for k, mode in enumerate(matrix)}

    def attr(axis: int) -> ShardAttr:
        theirs, ours = target.attrs[axis], own.attrs[axis]
        if isinstance(theirs, Split) and theirs.axis in at:
            return Split(at[theirs.axis])
        return Split(moved[ours.axis]) if isinstance(ours, Split) and ours.axis in moved else Broadcast()

    extents = (*(target.shape[mode] for mode in leading), *(own.shape[mode] for mode in matrix))
    layout = ShardLayout(Layout(extents, extents), tuple(map(attr, range(own.mesh.rank))), own.mesh)
    shape: tuple[ShapeDim, ...] = (*to.shape[:-2], *type_.shape[-2:])
    return ctx.broadcast(call, operand, TensorType(shape, type_.dtype, layout, type_.storage))
