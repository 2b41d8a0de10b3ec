"""ArgMax: the first place of the greatest element."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ArgMax, ReduceKind
from tilefoundry.passes.lower.expansion import Primitives, expands
from tilefoundry.passes.lower.reduce.search import first_extremum
from tilefoundry.passes.lower.registry import fuses


@expands(ArgMax)
def expand_argmax(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, ArgMax)
    return first_extremum(p, call, ReduceKind.MAX, call.target.axis)


fuses(ArgMax)
