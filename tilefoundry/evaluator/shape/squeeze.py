"""Squeeze."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Squeeze


def squeeze(ctx: EvalContext, op: Squeeze, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` without some axes of extent 1."""
    (x,) = ctx.operands(call.args, values)
    return x.squeeze(op.axis)
