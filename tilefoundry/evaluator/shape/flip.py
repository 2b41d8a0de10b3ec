"""Flip."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.bits import bits, from_bits
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Flip


def flip(ctx: EvalContext, op: Flip, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` in reverse order along some axes."""
    (x,) = ctx.operands(call.args, values)
    return from_bits(bits(x).flip(op.axes), x.dtype)
