"""Rank."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Rank
from tilefoundry.ir.types import INDEX_TYPE, TensorType


def rank(ctx: EvalContext, op: Rank, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The number of axes of the type of `x`."""
    (x,) = call.args
    type_ = x.type if isinstance(x, Expr) else INDEX_TYPE
    assert isinstance(type_, TensorType)
    return torch.tensor(type_.rank, device=ctx.device)
