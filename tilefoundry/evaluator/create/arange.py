"""Arange."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalValueError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Arange


def arange(ctx: EvalContext, op: Arange, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """``start + step * k``.

    Raises:
        EvalValueError: the dtype does not hold a number, of an extent that the program leaves open.
    """
    (extent,) = ctx.shape(op.type)
    if (beyond := op.beyond(extent)) is not None:
        raise EvalValueError(f"arange: {beyond} is no value of {op.type.dtype}", remedy='make it of "i64"')
    step = op.step if extent > 1 else 0  # which alone may be more than the dtype holds
    return op.start + step * torch.arange(extent, dtype=ctx.dtype(op.type.dtype), device=ctx.device)
