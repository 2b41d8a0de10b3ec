"""Operands of elementwise effects."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.passes.lower.context import Lowering, is_scalar, tensor_type


def operand(ctx: Lowering, call: Call, expr: Expr, dst: Var) -> Expr | int:
    """An operand of ``call``: a scalar as it is, a fragment as a view with the local shape of ``dst``."""
    if is_scalar(expr):
        return ctx.scalar(expr)
    return ctx.broadcast(call, ctx.fragment(expr, call), tensor_type(dst))
