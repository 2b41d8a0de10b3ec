"""TopK: the first elements of an axis in order."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import TopK
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.reduce.order import in_order, order_tile
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Value


@lowers(TopK)
def lower_topk(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, TopK)
    if not isinstance(op.k, int) or op.k < 1:
        ctx.refuse(
            call,
            f"tf.topk compiles for a positive k that is known when the program is written, got {format_dim(op.k)}",
            remedy="write k as a number",
        )
    return in_order(ctx, call, normalize_axis(op.axis, tensor_type(operand(call)).rank), largest=op.largest)


@computes_tiles(TopK)
def topk_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    op = call.target
    assert isinstance(op, TopK)
    axis = normalize_axis(op.axis, tensor_type(operand(call)).rank)
    return order_tile(p, call, tile, axis, op.k, largest=op.largest)


fuses(TopK)
