"""Reshape."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.types import TensorType


def reshape(ctx: EvalContext, op: Reshape, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The same elements, in row-major order, under another shape."""
    (x,) = ctx.operands(call.args, values)
    assert isinstance(call.type, TensorType)  # whose shape has the extent that a -1 stands for
    return x.reshape(ctx.shape(call.type))
