"""Rank."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Rank
from tilefoundry.ir.types import TensorType


def rank(ctx: EvalContext, op: Rank, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The number of axes of the type of `x`."""
    (x,) = call.args
    assert isinstance(x, Expr) and isinstance(x.type, TensorType)
    return torch.tensor(x.type.rank, device=ctx.device)
