"""InsertSlice."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalValueError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import InsertSlice


def insert_slice(ctx: EvalContext, op: InsertSlice, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`dst` with a window replaced; where the boundary of an axis is "clip", what overhangs is not written."""
    dst, update, offsets = values
    assert isinstance(dst, torch.Tensor)
    result = dst.clone()
    write_window(ctx, op, (result, update, offsets))
    return result


def write_window(ctx: EvalContext, op: InsertSlice, values: tuple[Value, ...]) -> None:
    """Writes the window into `dst` itself."""
    dst, update, offsets = values
    assert isinstance(dst, torch.Tensor) and isinstance(update, torch.Tensor) and isinstance(offsets, tuple)
    sizes = tuple(ctx.extent(size) for size in op.sizes)
    target: list[slice] = []
    source: list[slice] = []
    for axis, (offset, size, extent) in enumerate(zip(offsets, sizes, dst.shape, strict=True)):
        first, stop = 0, size
        if op.boundary[axis] == "clip":
            first = min(max(0, -offset), size)
            stop = min(max(first, extent - offset), size)
        elif size and not 0 <= offset <= extent - size:
            raise EvalValueError(
                f"insert_slice exceeds axis {axis}: elements {offset} to {offset + size - 1} of extent {extent}",
                remedy="keep offset + size within the extent, or write by a tile window, which clips",
            )
        target.append(slice(offset + first, offset + stop) if stop > first else slice(0, 0))
        source.append(slice(first, stop))
    dst[tuple(target)] = update.reshape(sizes)[tuple(source)]
