"""Where: a condition in registers, choices in registers or scalars."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Where
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.elementwise.operands import elementwise_tile, operand, without_place
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.values import Value


@lowers(Where)
def lower_where(ctx: Lowering, call: Call) -> Value:
    if (value := without_place(ctx, call)) is not None:
        return value
    dst = ctx.result(call, "where")
    ctx.emit(tir.Where(), *(operand(ctx, call, arg, dst) for arg in call.args), dst)  # type: ignore[arg-type]  # Exprs
    return dst


computes_tiles(Where)(elementwise_tile)
fuses(Where)
