"""Clamp."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.dtypes import element
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Clamp


def clamp(ctx: EvalContext, op: Clamp, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Elements below `min_val` raised to it, then those above `max_val` lowered to it."""
    (x,) = ctx.operands(call.args, values)
    return torch.clamp(countable(x), element(op.min_val, x.dtype), element(op.max_val, x.dtype)).to(x.dtype)
