"""SplitParts."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import SplitParts


def split(ctx: EvalContext, op: SplitParts, call: Call, values: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
    """The parts, in order."""
    (x,) = ctx.operands(call.args, values)
    return tuple(x.tensor_split(op.num_splits, op.axis))
