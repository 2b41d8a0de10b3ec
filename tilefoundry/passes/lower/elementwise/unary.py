"""Unary: one operand in registers."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Unary
from tilefoundry.passes.lower.context import Lowering, is_scalar
from tilefoundry.passes.lower.elementwise.operands import operand
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Unary)
def lower_unary(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Unary)
    (x,) = call.args
    if is_scalar(call):
        return Call(call.target, (ctx.scalar(x),), call.type, call.metadata)
    dst = ctx.result(call, call.target.kind.name.lower())
    ctx.emit(tir.Unary(call.target.kind), operand(ctx, call, x, dst), dst)  # type: ignore[arg-type]  # a tensor: not an int
    return dst
