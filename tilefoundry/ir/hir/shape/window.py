"""Windows: what Slice and InsertSlice share."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import extents
from tilefoundry.ir.hir.common import index_scalar
from tilefoundry.ir.types import TensorType


def window_sizes(op: str, sizes: object) -> tuple[Dim, ...]:
    """Checked sizes, one per axis."""
    result = extents(op, "sizes", sizes)
    if any(isinstance(d, int) and d < 0 for d in result):
        raise WrongValueError(f"{op}: sizes must not be negative, got {sizes!r}", remedy="write 0 or more")
    return result


def window_boundary(op: str, boundary: Sequence[str], rank: int, overhang: str) -> tuple[str, ...]:
    """Checked boundaries, one per axis: "error", or `overhang` where the window may lie partly outside."""
    result = (tuple(boundary) if isinstance(boundary, (tuple, list)) else (boundary,)) or ("error",) * rank
    if len(result) != rank or any(b not in ("error", overhang) for b in result):
        raise WrongValueError(
            f'{op}: boundary must hold "error" or "{overhang}" for each of {rank} axes, got {boundary!r}',
            remedy="leave it out for windows that lie inside",
        )
    return result


def window_starts(ctx: TypeContext, what: str, starts: Expr | int, rank: int) -> tuple[Expr | int, ...]:
    """The starts of a window: a Tuple of scalar integers, one per axis."""
    if not isinstance(starts, Tuple):
        ctx.error(f"{what} must be a tuple of scalar indices, got {starts!r}", "write one index for each axis")
    if len(starts.elements) != rank:
        ctx.error(
            f"{len(starts.elements)} {what} for {rank} axes, expected one for each", "write one index for each axis"
        )
    for element in starts.elements:
        index_scalar(ctx, f"each of the {what}", element)
    return starts.elements


def check_window(
    ctx: TypeContext,
    t: TensorType,
    starts: Sequence[Expr | int],
    sizes: Sequence[Dim],
    strides: Sequence[int],
    boundary: Sequence[str],
) -> None:
    """Refuses a window that provably leaves the tensor along an axis where it must not."""
    for axis, (start, size, stride, extent) in enumerate(zip(starts, sizes, strides, t.shape, strict=True)):
        if not isinstance(start, int):
            continue
        if start < 0:
            ctx.error(f"window starts at {start} along axis {axis}, before the tensor", "count from 0")
        if not isinstance(size, int) or not isinstance(extent, int) or size == 0:
            continue
        stop = start + (size - 1) * stride + 1
        if boundary[axis] == "error" and stop > extent:
            ctx.error(
                f"window [{start}, {stop}) exceeds axis {axis} of extent {extent}",
                "let the window end inside, or walk the axis with `for i in tile(extent, step)`",
            )
