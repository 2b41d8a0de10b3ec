"""Transpose."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Transpose


def transpose(ctx: EvalContext, op: Transpose, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The axes in another order, in row-major memory."""
    (x,) = ctx.operands(call.args, values)
    return x.permute(op.perm).contiguous()
