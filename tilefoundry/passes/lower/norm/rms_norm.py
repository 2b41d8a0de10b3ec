"""RMSNorm: x over its root mean square, times the weight."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ReduceKind, RMSNorm, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(RMSNorm)
def expand_rms_norm(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, RMSNorm)
    dtype = tensor_type(call).dtype
    x = p.wide(operand(call))
    mean = p.reduce(ReduceKind.MEAN, p.unary(UnaryKind.SQUARE, x), (-1,))
    scale = p.unary(UnaryKind.RSQRT, p.add(mean, call.target.eps))
    return p.cast(p.mul(p.mul(x, scale), p.cast(operand(call, 1), compute_dtype(dtype))), dtype)


fuses(RMSNorm)
