"""Cast."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Cast


def cast(ctx: EvalContext, op: Cast, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` with elements of another type: to nearest even for floats, truncation from floats to integers."""
    (x,) = ctx.operands(call.args, values)
    return x.to(ctx.dtype(op.dtype))
