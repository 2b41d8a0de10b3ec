"""Silu: x times its sigmoid."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Silu, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Silu)
def expand_silu(p: Primitives, call: Call) -> Expr:
    x = p.wide(operand(call))
    return p.cast(p.mul(x, p.unary(UnaryKind.SIGMOID, x)), tensor_type(call).dtype)


fuses(Silu)
