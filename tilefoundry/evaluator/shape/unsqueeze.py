"""Unsqueeze."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Unsqueeze


def unsqueeze(ctx: EvalContext, op: Unsqueeze, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` with an axis of extent 1 more."""
    (x,) = ctx.operands(call.args, values)
    return x.unsqueeze(op.axis)
