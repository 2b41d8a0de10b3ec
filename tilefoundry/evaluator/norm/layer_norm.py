"""LayerNorm."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import LayerNorm


def layer_norm(ctx: EvalContext, op: LayerNorm, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The axes from one on, of mean zero and variance one, scaled and shifted before the rounding."""
    x, weight, bias = ctx.operands(call.args, values)
    exact = wide(x)
    scale, shift = weight.to(exact.dtype), bias.to(exact.dtype)
    return torch.nn.functional.layer_norm(exact, weight.shape, scale, shift, op.eps).to(x.dtype)
