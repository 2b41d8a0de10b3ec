"""Unary: one operand in registers, or of global memory windows."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Unary
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.elementwise.operands import elementwise_tile, operand, without_place
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.values import Value


@lowers(Unary)
def lower_unary(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Unary)
    if (value := without_place(ctx, call)) is not None:
        return value
    (x,) = call.args
    dst = ctx.result(call, call.target.kind.name.lower())
    ctx.emit(tir.Unary(call.target.kind), operand(ctx, call, x, dst), dst)  # type: ignore[arg-type]  # a tensor: not an int
    return dst


computes_tiles(Unary)(elementwise_tile)
fuses(Unary)
