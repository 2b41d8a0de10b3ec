"""Softplus: log(1 + exp(x)), and x itself where the two are equal in f32."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import BinaryKind, Softplus, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(Softplus)
def expand_softplus(p: Primitives, call: Call) -> Expr:
    x = p.wide(operand(call))
    curve = p.unary(UnaryKind.LOG1P, p.unary(UnaryKind.EXP, x))
    return p.cast(p.where(p.binary(BinaryKind.GT, x, 20.0), x, curve), tensor_type(call).dtype)


fuses(Softplus)
