"""Rank: a number that is known when the program is written."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.hir import Rank
from tilefoundry.ir.types import INDEX_TYPE
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Rank)
def lower_rank(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    return Constant(tensor_type(x).rank, INDEX_TYPE)
