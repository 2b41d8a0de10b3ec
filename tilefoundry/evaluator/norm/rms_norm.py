"""RMSNorm."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import RMSNorm


def rms_norm(ctx: EvalContext, op: RMSNorm, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The last axis over its root mean square, scaled by the weight before the rounding."""
    x, weight = ctx.operands(call.args, values)
    exact = wide(x)
    mean = exact.square().mean(-1, keepdim=True)
    return (exact * torch.rsqrt(mean + op.eps) * wide(weight)).to(x.dtype)
