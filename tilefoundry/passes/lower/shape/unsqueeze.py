"""Unsqueeze: an axis of extent 1 more, by a reshape."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Unsqueeze
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Unsqueeze)
def expand_unsqueeze(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, Unsqueeze)
    x = operand(call)
    return p.call(call.target.reshape(tensor_type(x)), x)


fuses(Unsqueeze)
