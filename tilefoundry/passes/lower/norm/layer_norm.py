"""LayerNorm: the distance to the mean over its root mean square, scaled and shifted."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import LayerNorm, ReduceKind, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, expands, operand
from tilefoundry.passes.lower.registry import fuses


@expands(LayerNorm)
def expand_layer_norm(p: Primitives, call: Call) -> Expr:
    assert isinstance(call.target, LayerNorm)
    dtype = tensor_type(call).dtype
    axes = tuple(range(-tensor_type(operand(call, 1)).rank, 0))
    x = p.wide(operand(call))
    weight, bias = (p.cast(operand(call, k), compute_dtype(dtype)) for k in (1, 2))
    centred = p.sub(x, p.reduce(ReduceKind.MEAN, x, axes))
    variance = p.reduce(ReduceKind.MEAN, p.unary(UnaryKind.SQUARE, centred), axes)
    scale = p.unary(UnaryKind.RSQRT, p.add(variance, call.target.eps))
    return p.cast(p.add(p.mul(p.mul(centred, scale), weight), bias), dtype)


fuses(LayerNorm)
