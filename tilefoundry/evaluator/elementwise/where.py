"""Where."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Where
from tilefoundry.ir.types import DType


def where(ctx: EvalContext, op: Where, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Element by element, `input` where the condition holds, else `other`."""
    condition = ctx.tensor(values[0], DType.bool)
    chosen, other = ctx.operands(call.args[1:], values[1:])
    return torch.where(condition, chosen, other)
