"""Expand."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Expand
from tilefoundry.ir.types import TensorType


def expand(ctx: EvalContext, op: Expand, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x`, repeated along its axes of extent 1 and along new ones."""
    (x,) = ctx.operands(call.args, values)
    assert isinstance(call.type, TensorType)
    return x.expand(ctx.shape(call.type))
