"""CumSum."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import CumSum


def cumsum(ctx: EvalContext, op: CumSum, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Sums of each element along the axis and all before it."""
    (x,) = ctx.operands(call.args, values)
    exact = wide(x)
    return torch.cumsum(exact, op.axis, dtype=exact.dtype).to(x.dtype)
