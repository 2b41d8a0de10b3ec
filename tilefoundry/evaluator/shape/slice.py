"""Slice."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalValueError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Slice


def slice_(ctx: EvalContext, op: Slice, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """A window of `x`; where the boundary of an axis is "zero", elements outside `x` read as zero."""
    x, starts = values
    assert isinstance(x, torch.Tensor) and isinstance(starts, tuple)
    sizes = tuple(ctx.extent(size) for size in op.sizes)
    inside: list[slice] = []
    target: list[slice] = []
    for axis, (start, size, stride) in enumerate(zip(starts, sizes, op.strides, strict=True)):
        first, stop = 0, size
        if op.boundary[axis] == "zero":
            first = min(max(0, -(start // stride)), size)  # the first window element at or behind element 0
            stop = min(max(first, -((start - x.shape[axis]) // stride)), size)
        elif size and not 0 <= start <= start + (size - 1) * stride < x.shape[axis]:
            raise EvalValueError(
                f"Slice window exceeds axis {axis}: elements {start} to {start + (size - 1) * stride} "
                f"of extent {x.shape[axis]}",
                remedy="keep start + size within the extent, or read by a tile window, which gives zeros",
            )
        inside.append(slice(start + first * stride, start + first * stride + (stop - first) * stride, stride))
        target.append(slice(first, stop))
    if all(t == slice(0, size) for t, size in zip(target, sizes, strict=True)):
        window = x[tuple(_clamped(s, n) for s, n in zip(inside, x.shape, strict=True))]
    else:
        window = torch.zeros(sizes, dtype=x.dtype, device=x.device)
        window[tuple(target)] = x[tuple(_clamped(s, n) for s, n in zip(inside, x.shape, strict=True))]
    return window.reshape(tuple(n for axis, n in enumerate(sizes) if axis not in op.drop))


def _clamped(part: slice, extent: int) -> slice:
    """A slice whose bounds Python does not read as counted from the end."""
    return slice(min(max(part.start, 0), extent), min(max(part.stop, 0), extent), part.step)
