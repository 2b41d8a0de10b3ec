"""Clamp: the lesser of max_val and the greater of min_val and x."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import BinaryKind, Clamp
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Clamp)
def expand_clamp(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, Clamp)
    low, high = op.min_val, op.max_val
    if tensor_type(call).dtype.is_float:
        low, high = float(low), float(high)
    return p.binary(BinaryKind.MIN, p.binary(BinaryKind.MAX, operand(call), low), high)


fuses(Clamp)
