"""Reshape."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reshape


def reshape(ctx: EvalContext, op: Reshape, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The same elements, in row-major order, under another shape."""
    (x,) = ctx.operands(call.args, values)
    return x.reshape(tuple(ctx.extent(d) for d in op.new_shape))
