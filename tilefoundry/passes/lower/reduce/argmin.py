"""ArgMin: the first place of the least element."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ArgMin, ReduceKind
from tilefoundry.passes.lower.expansion import Primitives, expands
from tilefoundry.passes.lower.reduce.search import first_extremum
from tilefoundry.passes.lower.registry import fuses


@expands(ArgMin)
def expand_argmin(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, ArgMin)
    return first_extremum(p, call, ReduceKind.MIN, call.target.axis)


fuses(ArgMin)
