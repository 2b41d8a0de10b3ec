"""ArgMin."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.reduce.along import nonempty
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import ArgMin


def argmin(ctx: EvalContext, op: ArgMin, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The index of the least element along the axis."""
    (x,) = ctx.operands(call.args, values)
    nonempty("argmin", x, op.axis)
    return torch.argmin(countable(x), op.axis)
