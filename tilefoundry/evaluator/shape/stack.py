"""Stack."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Stack


def stack(ctx: EvalContext, op: Stack, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The operands along a new axis."""
    return torch.stack(ctx.operands(call.args, values), op.axis)
