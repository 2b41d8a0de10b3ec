"""Zeros."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Zeros


def zeros(ctx: EvalContext, op: Zeros, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """A tensor of zeros."""
    return torch.zeros(ctx.shape(op.type), dtype=ctx.dtype(op.type.dtype), device=ctx.device)
