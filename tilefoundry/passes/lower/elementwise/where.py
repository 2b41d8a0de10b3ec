"""Where: a condition in registers, choices in registers or scalars."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Where
from tilefoundry.passes.lower.context import Lowering, is_scalar
from tilefoundry.passes.lower.elementwise.operands import operand
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Where)
def lower_where(ctx: Lowering, call: Call) -> Value:
    if is_scalar(call):
        return Call(call.target, tuple(ctx.scalar(arg) for arg in call.args), call.type, call.metadata)
    dst = ctx.result(call, "where")
    ctx.emit(tir.Where(), *(operand(ctx, call, arg, dst) for arg in call.args), dst)  # type: ignore[arg-type]  # Exprs
    return dst
