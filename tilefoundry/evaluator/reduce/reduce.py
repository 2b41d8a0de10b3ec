"""Reduce."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reduce, ReduceKind

Axes = tuple[int, ...]


def reduce(ctx: EvalContext, op: Reduce, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """One element for all that lie along `axes`; over no elements, the identity of the kind (NaN for a mean)."""
    (x,) = ctx.operands(call.args, values)
    axes = tuple(axis % x.dim() for axis in op.axes)
    result = _TORCH[op.kind](wide(x), axes).to(x.dtype)
    return result if op.keepdim else result.squeeze(axes)


def _greatest(x: torch.Tensor, axes: Axes) -> torch.Tensor:
    if all(x.shape[axis] for axis in axes):
        return torch.amax(x, axes, True)
    return _filled(x, axes, float("-inf") if x.is_floating_point() else torch.iinfo(x.dtype).min)


def _least(x: torch.Tensor, axes: Axes) -> torch.Tensor:
    if all(x.shape[axis] for axis in axes):
        return torch.amin(x, axes, True)
    return _filled(x, axes, float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).max)


def _greatest_magnitude(x: torch.Tensor, axes: Axes) -> torch.Tensor:
    empty = not all(x.shape[axis] for axis in axes)
    return _filled(x, axes, 0) if empty else torch.amax(x.abs(), axes, True)


def _filled(x: torch.Tensor, axes: Axes, value: float | int) -> torch.Tensor:
    return x.new_full([1 if axis in axes else extent for axis, extent in enumerate(x.shape)], value)


def _product(x: torch.Tensor, axes: Axes) -> torch.Tensor:
    for axis in axes:  # torch.prod takes one at a time
        x = torch.prod(x, axis, True, dtype=x.dtype)
    return x


_TORCH: dict[ReduceKind, Callable[[torch.Tensor, Axes], torch.Tensor]] = {
    ReduceKind.SUM: lambda x, axes: torch.sum(x, axes, True, dtype=x.dtype),
    ReduceKind.MEAN: lambda x, axes: torch.mean(x, axes, True),
    ReduceKind.ABS_MAX: _greatest_magnitude,
    ReduceKind.MAX: _greatest,
    ReduceKind.MIN: _least,
    ReduceKind.PROD: _product,
    ReduceKind.ANY: lambda x, axes: torch.any(x, axes, True),
    ReduceKind.ALL: lambda x, axes: torch.all(x, axes, True),
}
