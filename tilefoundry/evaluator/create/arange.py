"""Arange."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Arange


def arange(ctx: EvalContext, op: Arange, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``start + step * k``."""
    (extent,) = ctx.shape(op.type)
    return op.start + op.step * torch.arange(extent, dtype=ctx.dtype(op.type.dtype), device=ctx.device)
