"""Binary."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.evaluator.checks import require
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Binary, BinaryKind

_TORCH: dict[BinaryKind, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    BinaryKind.ADD: torch.add,
    BinaryKind.SUB: torch.sub,
    BinaryKind.MUL: torch.mul,
    BinaryKind.DIV: torch.div,
    BinaryKind.FLOOR_DIV: torch.floor_divide,
    BinaryKind.MOD: torch.remainder,
    BinaryKind.MIN: torch.minimum,
    BinaryKind.MAX: torch.maximum,
    BinaryKind.EQ: torch.eq,
    BinaryKind.NE: torch.ne,
    BinaryKind.LT: torch.lt,
    BinaryKind.LE: torch.le,
    BinaryKind.GT: torch.gt,
    BinaryKind.GE: torch.ge,
    BinaryKind.AND: torch.logical_and,
    BinaryKind.OR: torch.logical_or,
    BinaryKind.POW: torch.pow,
}


def binary(ctx: EvalContext, op: Binary, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``kind(lhs, rhs)`` with broadcasting, as torch computes it in the operands' dtype; 8-bit floats in f32."""
    lhs, rhs = ctx.operands(call.args, values)
    if op.kind in (BinaryKind.FLOOR_DIV, BinaryKind.MOD) and lhs.numel():
        require(rhs != 0, f"{op.kind.value}: division by zero", "choose another divisor where it is zero, by tf.where")
    result = _TORCH[op.kind](countable(lhs), countable(rhs))
    return result if op.kind.is_comparison or op.kind.is_logical else result.to(lhs.dtype)
