"""Softplus."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Softplus


def softplus(ctx: EvalContext, op: Softplus, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``log(1 + exp(x))``."""
    (x,) = ctx.operands(call.args, values)
    return torch.nn.functional.softplus(wide(x)).to(x.dtype)
