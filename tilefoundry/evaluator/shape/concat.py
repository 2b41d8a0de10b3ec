"""Concat."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Concat


def concat(ctx: EvalContext, op: Concat, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The operands one after the other."""
    return torch.cat(ctx.operands(call.args, values), op.axis)
