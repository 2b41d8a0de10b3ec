"""Cast: a fragment to another element type, or a scalar."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Cast
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.elementwise.operands import elementwise_tile, operand, without_place
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.values import Value


@lowers(Cast)
def lower_cast(ctx: Lowering, call: Call) -> Value:
    if (value := without_place(ctx, call)) is not None:
        return value
    (x,) = call.args
    dst = ctx.result(call, "cast")
    ctx.emit(tir.Cast(), operand(ctx, call, x, dst), dst)  # type: ignore[arg-type]  # a tensor: not an int
    return dst


computes_tiles(Cast)(elementwise_tile)
fuses(Cast)
