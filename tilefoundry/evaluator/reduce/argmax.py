"""ArgMax."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.reduce.along import nonempty
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import ArgMax


def argmax(ctx: EvalContext, op: ArgMax, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The index of the greatest element along the axis."""
    (x,) = ctx.operands(call.args, values)
    nonempty("argmax", x, op.axis)
    return torch.argmax(countable(x), op.axis)
