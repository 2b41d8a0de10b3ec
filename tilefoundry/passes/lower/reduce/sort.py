"""Sort of a short axis."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Sort
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.reduce.extremes import MOST, extremes


@expands(Sort)
def expand_sort(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, Sort)
    x = operand(call)
    axis = normalize_axis(op.axis, tensor_type(x).rank)
    extent = tensor_type(x).shape[axis]
    if not isinstance(extent, int) or not 1 <= extent <= MOST:
        p.refuse(
            f"tf.sort compiles for an axis of 1 to {MOST} elements, got {format_dim(extent)}",
            "take the greatest few by tf.topk",
        )
    return extremes(p, x, axis, extent, largest=op.descending)
