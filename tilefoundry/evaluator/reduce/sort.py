"""Sort."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Sort


def sort(ctx: EvalContext, op: Sort, call: Call, values: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
    """The elements along the axis in order, and the indices where they were."""
    (x,) = ctx.operands(call.args, values)
    ordered, places = torch.sort(countable(x), dim=op.axis, descending=op.descending, stable=True)
    return ordered.to(x.dtype), places
