"""Operands of elementwise effects."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.passes.lower.context import Lowering, is_scalar, tensor_type


def operand(ctx: Lowering, expr: Expr, dst: Var) -> Expr | int:
    """A scalar as it is, a fragment as a view with the local shape of ``dst``."""
    if is_scalar(expr):
        return ctx.scalar(expr)
    return ctx.broadcast(expr, ctx.fragment(expr), tensor_type(dst))
