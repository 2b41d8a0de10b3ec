"""Gelu."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Gelu

_CERTAIN = 100.0  # a normal variable is below it with probability 1, in any float


def gelu(ctx: EvalContext, op: Gelu, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` times the probability that a normal variable is below it."""
    (x,) = ctx.operands(call.args, values)
    value = torch.nn.functional.gelu(wide(x), approximate=op.approximate)
    # torch's own overflows where the probability is 1, in f32 from a value on that is far below this one
    return torch.where(x > _CERTAIN, x, value.to(x.dtype)) if op.approximate == "none" else value.to(x.dtype)
