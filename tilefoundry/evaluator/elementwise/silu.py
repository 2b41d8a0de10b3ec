"""Silu."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Silu


def silu(ctx: EvalContext, op: Silu, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` times its sigmoid."""
    (x,) = ctx.operands(call.args, values)
    return torch.nn.functional.silu(wide(x)).to(x.dtype)
