"""RepeatInterleave."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import RepeatInterleave


def repeat_interleave(ctx: EvalContext, op: RepeatInterleave, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Each element several times in a row."""
    (x,) = ctx.operands(call.args, values)
    return x.repeat_interleave(op.repeats, op.axis)
