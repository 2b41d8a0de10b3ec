"""Sort: all elements of an axis in order."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Sort
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import operand
from tilefoundry.passes.lower.reduce.order import in_order
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Sort)
def lower_sort(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Sort)
    return in_order(ctx, call, normalize_axis(op.axis, tensor_type(operand(call)).rank), largest=op.descending)
