"""Reduce."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reduce, ReduceKind


def reduce(ctx: EvalContext, op: Reduce, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """One element for all that lie along `axes`; over no elements, the identity of the kind (NaN for a mean)."""
    (x,) = ctx.operands(call.args, values)
    axes = tuple(axis % x.dim() for axis in op.axes)
    if not axes:
        return x.abs() if op.kind is ReduceKind.ABS_MAX else x
    if op.kind is ReduceKind.SUM:
        return torch.sum(x, axes, op.keepdim, dtype=x.dtype)
    if op.kind is ReduceKind.MEAN:
        return torch.mean(x, axes, op.keepdim)
    if op.kind is ReduceKind.ABS_MAX:
        x = x.abs()
    if any(x.shape[axis] == 0 for axis in axes):
        shape = [1 if a in axes else n for a, n in enumerate(x.shape) if op.keepdim or a not in axes]
        return x.new_full(shape, 0 if op.kind is ReduceKind.ABS_MAX else _least(x.dtype))
    return torch.amax(x, axes, op.keepdim)


def _least(dtype: torch.dtype) -> float | int:
    """The identity of max."""
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min
