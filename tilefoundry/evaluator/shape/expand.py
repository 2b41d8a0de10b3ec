"""Expand."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Expand


def expand(ctx: EvalContext, op: Expand, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x`, repeated along its axes of extent 1 and along new ones."""
    (x,) = ctx.operands(call.args, values)
    return x.expand(tuple(ctx.extent(d) for d in op.new_shape))
