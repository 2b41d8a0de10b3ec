"""Sort: all elements of an axis in order."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Sort
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.reduce.order import in_order, order_tile
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Value


@lowers(Sort)
def lower_sort(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Sort)
    return in_order(ctx, call, normalize_axis(op.axis, tensor_type(operand(call)).rank), largest=op.descending)


@computes_tiles(Sort)
def sort_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    op, shape = call.target, tensor_type(operand(call)).shape
    assert isinstance(op, Sort)
    axis = normalize_axis(op.axis, len(shape))
    return order_tile(p, call, tile, axis, shape[axis], largest=op.descending)


fuses(Sort)
