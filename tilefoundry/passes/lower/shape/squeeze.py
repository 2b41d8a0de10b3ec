"""Squeeze: axes of extent 1 removed, by a reshape."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Squeeze
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Squeeze)
def expand_squeeze(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, Squeeze)
    x = operand(call)
    return p.call(call.target.reshape(tensor_type(x)), x)


fuses(Squeeze)
