"""Gelu."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Gelu


def gelu(ctx: EvalContext, op: Gelu, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` times the probability that a normal variable is below it."""
    (x,) = ctx.operands(call.args, values)
    return torch.nn.functional.gelu(wide(x), approximate=op.approximate).to(x.dtype)
