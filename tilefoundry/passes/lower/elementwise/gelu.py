"""Gelu: x/2 (1 + erf(x / sqrt 2)), or its approximation by tanh."""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Gelu, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Gelu)
def expand_gelu(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, Gelu)
    x = p.wide(operand(call))
    if call.target.approximate == "tanh":
        cube = p.mul(p.mul(x, x), x)
        slope = p.mul(p.add(x, p.mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        below = p.unary(UnaryKind.TANH, slope)
    else:
        below = p.unary(UnaryKind.ERF, p.mul(x, math.sqrt(0.5)))
    return p.cast(p.mul(p.mul(x, 0.5), p.add(below, 1.0)), tensor_type(call).dtype)


fuses(Gelu)
