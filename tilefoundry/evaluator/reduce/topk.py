"""TopK."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import TopK


def topk(ctx: EvalContext, op: TopK, call: Call, values: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
    """The `k` greatest (least) elements along the axis, the first of equal ones, and their indices.

    They are in order also where `op.sorted` leaves that open. (Which of equal elements ``torch.topk`` takes is open.)
    """
    (x,) = ctx.operands(call.args, values)
    k = ctx.extent(op.k)
    if not 0 <= k <= x.shape[op.axis]:
        raise EvalError(
            f"topk: k = {k}, but axis {op.axis % x.dim()} of a tensor of shape {tuple(x.shape)} has "
            f"{x.shape[op.axis]} elements",
            remedy="take fewer elements",
        )
    ordered, places = torch.sort(countable(x), dim=op.axis, descending=op.largest, stable=True)
    return ordered.narrow(op.axis, 0, k).to(x.dtype), places.narrow(op.axis, 0, k)
