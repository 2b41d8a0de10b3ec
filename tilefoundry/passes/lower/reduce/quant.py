"""Quant: x over the largest magnitude of its group, which counts as an axis of its own meanwhile."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims import dim_floordiv
from tilefoundry.ir.hir import BinaryKind, Quant, ReduceKind
from tilefoundry.ir.hir.reduce.quant import FP8_MAX
from tilefoundry.ir.types import DType
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand


@expands(Quant)
def expand_quant(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, Quant)
    shape = tensor_type(operand(call)).shape
    by_group = (*shape[:-1], dim_floordiv(shape[-1], op.group))
    x = p.reshape(p.wide(operand(call)), (*by_group, op.group))
    greatest = p.reduce(ReduceKind.ABS_MAX, x, (-1,))
    scale = p.where(p.binary(BinaryKind.EQ, greatest, 0.0), 1.0, p.div(greatest, FP8_MAX))
    scaled = p.binary(BinaryKind.MIN, p.binary(BinaryKind.MAX, p.div(x, scale), -FP8_MAX), FP8_MAX)
    quantised = p.reshape(p.cast(scaled, op.target), shape)
    return Tuple((quantised, p.reshape(p.cast(scale, DType.f32), by_group)))
