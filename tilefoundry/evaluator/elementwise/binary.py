"""Binary."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.evaluator.context import EvalContext, Value
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
}


def binary(ctx: EvalContext, op: Binary, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``kind(lhs, rhs)`` with broadcasting, as torch computes it in the operands' dtype."""
    lhs, rhs = ctx.operands(call.args, values)
    return _TORCH[op.kind](lhs, rhs)
