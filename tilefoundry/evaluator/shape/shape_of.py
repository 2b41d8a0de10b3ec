"""ShapeOf."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ShapeOf
from tilefoundry.ir.types import TensorType


def shape_of(ctx: EvalContext, op: ShapeOf, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The extents of the type of `x`."""
    (x,) = call.args
    assert isinstance(x, Expr) and isinstance(x.type, TensorType)
    return torch.tensor(ctx.shape(x.type), dtype=torch.int64, device=ctx.device)
