"""Softmax."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Softmax


def softmax(ctx: EvalContext, op: Softmax, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Along the axis, exponentials that add up to one."""
    (x,) = ctx.operands(call.args, values)
    return torch.softmax(wide(x), op.axis).to(x.dtype)
