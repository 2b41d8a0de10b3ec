"""Softmax: exponentials of the distance to the greatest element, over their sum."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ReduceKind, Softmax, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Softmax)
def expand_softmax(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, Softmax)
    axes = (call.target.axis,)
    x = p.wide(operand(call))
    e = p.unary(UnaryKind.EXP, p.sub(x, p.reduce(ReduceKind.MAX, x, axes)))
    return p.cast(p.div(e, p.reduce(ReduceKind.SUM, e, axes)), tensor_type(call).dtype)


fuses(Softmax)
