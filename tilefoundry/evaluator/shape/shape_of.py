"""ShapeOf."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import ShapeOf
from tilefoundry.ir.types import INDEX_TYPE, TensorType


def shape_of(ctx: EvalContext, op: ShapeOf, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The extents of the type of `x`."""
    (x,) = call.args
    type_ = x.type if isinstance(x, Expr) else INDEX_TYPE
    assert isinstance(type_, TensorType)
    return torch.tensor(ctx.shape(type_), dtype=torch.int64, device=ctx.device)
