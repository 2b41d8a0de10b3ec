"""FullLike."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.dtypes import element
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import FullLike


def full_like(ctx: EvalContext, op: FullLike, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """A tensor like `x` whose elements are all `value`."""
    (x,) = ctx.operands(call.args, values)
    return torch.full_like(x, element(op.value, x.dtype))
