"""Quant."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Quant
from tilefoundry.ir.hir.reduce.quant import FP8_MAX
from tilefoundry.ir.types import DType


def quant(ctx: EvalContext, op: Quant, call: Call, values: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
    """`x` over the scale of its group, in 8-bit floats, and the scales."""
    (x,) = ctx.operands(call.args, values)
    groups = wide(x).reshape(*x.shape[:-1], x.shape[-1] // op.group, op.group)
    greatest = groups.abs().amax(-1, keepdim=True)
    scale = torch.where(greatest == 0, torch.ones_like(greatest), greatest / FP8_MAX).to(ctx.dtype(DType.f32))
    scaled = (groups / scale).clamp(-FP8_MAX, FP8_MAX).reshape(x.shape)
    return scaled.to(ctx.dtype(op.target)), scale.squeeze(-1)
