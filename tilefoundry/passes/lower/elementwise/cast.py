"""Cast: a fragment to another element type, or a scalar."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Cast
from tilefoundry.passes.lower.context import Lowering, is_scalar
from tilefoundry.passes.lower.elementwise.operands import operand
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Cast)
def lower_cast(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    if is_scalar(call):
        return Call(call.target, (ctx.scalar(x),), call.type, call.metadata)
    dst = ctx.result(call, "cast")
    ctx.emit(tir.Cast(), operand(ctx, call, x, dst), dst)  # type: ignore[arg-type]  # a tensor: not an int
    return dst
