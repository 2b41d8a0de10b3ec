"""CumSum of a short axis: each element is added to all places from its own on, one element after the other."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import BinaryKind, CumSum, ReduceKind
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.reduce.extremes import MOST
from tilefoundry.passes.lower.reduce.search import positions


@expands(CumSum)
def expand_cumsum(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, CumSum)
    t = tensor_type(operand(call))
    axis = normalize_axis(op.axis, t.rank)
    extent = t.shape[axis]
    if not isinstance(extent, int) or not 1 <= extent <= MOST:
        p.refuse(
            f"tf.cumsum compiles for an axis of 1 to {MOST} elements, got {format_dim(extent)}",
            "sum the elements in a loop that carries the sum",
        )
    x = p.wide(operand(call)) if t.dtype.is_float else operand(call)
    zero = 0.0 if t.dtype.is_float else 0
    places = positions(p, t, axis, extent)
    sums: Expr | None = None
    for k in range(extent):
        here = p.binary(BinaryKind.EQ, places, k)
        element = p.reduce(ReduceKind.SUM, p.where(here, x, zero), (axis,))
        part = p.where(p.binary(BinaryKind.GE, places, k), element, zero)
        sums = part if sums is None else p.add(sums, part)
    assert sums is not None  # the axis has an element
    return p.cast(sums, t.dtype)
