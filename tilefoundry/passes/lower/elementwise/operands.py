"""Operands of elementwise effects, and what calls of elementwise ops are that lie in no registers."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, is_scalar, tensor_type
from tilefoundry.passes.lower.deferred import deferred, is_unplaced, place
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.fragments import spread_over
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Deferred, Value


def operand(ctx: Lowering, call: Call, expr: Expr, dst: Var) -> Expr | int:
    """An operand of ``call``: a scalar as it is, a fragment as a view with the local shape of ``dst``."""
    if is_scalar(expr):
        value = ctx.lower(expr)
        return _own_number(ctx, call, expr, value, dst) if isinstance(value, Deferred) else ctx.scalar(expr)
    return ctx.broadcast(call, ctx.fragment(expr, call), tensor_type(dst))


def _own_number(ctx: Lowering, call: Call, expr: Expr, value: Deferred, beside: Var) -> Expr:
    """A number that is computed from global tensors, as each unit of the mesh of a fragment has it."""
    layout = tensor_type(beside).layout
    assert isinstance(layout, ShardLayout)  # of a fragment
    to = TensorType((), tensor_type(expr).dtype, spread_over(layout.mesh), StorageKind.RMEM)
    return place(ctx, call, value, to)


def without_place(ctx: Lowering, call: Call) -> Value | None:
    """The value of a call of numbers, or of global tensors, which windows are placed of; None for fragments."""
    if is_unplaced(call):
        return deferred(call)
    if not is_scalar(call):
        return None
    if any(isinstance(arg, Expr) and isinstance(ctx.lower(arg), Deferred) for arg in call.args):
        return deferred(call)
    return Call(call.target, tuple(ctx.scalar(arg) for arg in call.args), call.type, call.metadata)


def elementwise_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """A tile of what is computed element by element: of each operand the window that lies there."""
    assert isinstance(call.target, Op)
    args = (arg if isinstance(arg, Expr) else Constant(arg, INDEX_TYPE) for arg in call.args)
    return p.call(call.target, *(tile.matching(p, arg) for arg in args))
