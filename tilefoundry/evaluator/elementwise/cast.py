"""Cast."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Cast

_FP8E4M3_MAX = 448.0


def cast(ctx: EvalContext, op: Cast, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` with elements of another type: to nearest even for floats, truncation from floats to integers.

    fp8e4m3, which has no infinity, saturates: said here, because versions of torch differ.
    """
    (x,) = ctx.operands(call.args, values)
    dtype = ctx.dtype(op.dtype)
    if dtype is torch.float8_e4m3fn and x.is_floating_point():
        x = x.clamp(-_FP8E4M3_MAX, _FP8E4M3_MAX)
    return x.to(dtype)
