"""Pad."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.dtypes import element
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Pad


def pad(ctx: EvalContext, op: Pad, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` with elements of one value around it."""
    (x,) = ctx.operands(call.args, values)
    return torch.nn.functional.pad(x, tuple(ctx.extent(n) for n in op.pad), value=element(op.value, x.dtype))
