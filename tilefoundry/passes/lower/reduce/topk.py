"""TopK of a few elements."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import TopK
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.reduce.extremes import MOST, extremes


@expands(TopK)
def expand_topk(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, TopK)
    if not isinstance(op.k, int) or not 1 <= op.k <= MOST:
        p.refuse(
            f"tf.topk compiles for a k of 1 to {MOST}, known when the program is written, got {format_dim(op.k)}",
            "take fewer elements",
        )
    x = operand(call)
    return extremes(p, x, normalize_axis(op.axis, tensor_type(x).rank), op.k, largest=op.largest)
