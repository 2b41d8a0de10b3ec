"""Unary."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Unary, UnaryKind

_TORCH: dict[UnaryKind, Callable[[torch.Tensor], torch.Tensor]] = {
    UnaryKind.NEG: torch.neg,
    UnaryKind.ABS: torch.abs,
    UnaryKind.RSQRT: torch.rsqrt,
    UnaryKind.NOT: torch.logical_not,
    UnaryKind.RELU: torch.relu,
    UnaryKind.SQUARE: torch.square,
    UnaryKind.EXP: torch.exp,
    UnaryKind.LOG: torch.log,
    UnaryKind.CEIL: torch.ceil,
    UnaryKind.ROUND: torch.round,  # half to even
    UnaryKind.EXP2: torch.exp2,
    UnaryKind.LOG2: torch.log2,
    UnaryKind.LOG1P: torch.log1p,
    UnaryKind.SQRT: torch.sqrt,
    UnaryKind.SIN: torch.sin,
    UnaryKind.COS: torch.cos,
    UnaryKind.ERF: torch.erf,
    UnaryKind.TANH: torch.tanh,
    UnaryKind.SIGMOID: torch.sigmoid,
    UnaryKind.FLOOR: torch.floor,
    UnaryKind.ISNAN: torch.isnan,
    UnaryKind.ISINF: torch.isinf,
}


def unary(ctx: EvalContext, op: Unary, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``kind(x)`` as torch computes it in the dtype of `x`; on 8-bit floats in f32, rounded once."""
    (x,) = ctx.operands(call.args, values)
    result = _TORCH[op.kind](countable(x))
    return result if op.kind.is_test else result.to(x.dtype)
