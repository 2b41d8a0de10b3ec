"""Cast."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import countable
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Cast

_FP8E4M3_MAX = 448.0


def cast(ctx: EvalContext, op: Cast, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`x` with elements of another type: to nearest even for floats, truncation from floats to integers.

    fp8e4m3, which has no infinity, saturates: said here, because versions of torch differ. Integers saturate likewise,
    and NaN becomes 0, which torch leaves open.
    """
    (x,) = ctx.operands(call.args, values)
    dtype = ctx.dtype(op.dtype)
    if dtype is torch.float8_e4m3fn and x.is_floating_point():
        x = countable(x).clamp(-_FP8E4M3_MAX, _FP8E4M3_MAX)
    if x.is_floating_point() and not dtype.is_floating_point and dtype is not torch.bool:
        return _truncated(x, dtype)
    return x.to(dtype)


def _truncated(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Floats towards zero, saturating, NaN to 0."""
    x = countable(x).nan_to_num(0.0, float("inf"), float("-inf"))
    ends = torch.iinfo(dtype)
    # the greatest integer may lie between two floats: the first one that is too large is `max + 1`, a power of two
    too_large, too_small = x >= float(ends.max + 1), x < float(ends.min)
    inside = torch.where(too_large | too_small, 0.0, x).to(dtype)
    return torch.where(too_large, ends.max, torch.where(too_small, ends.min, inside)).to(dtype)
