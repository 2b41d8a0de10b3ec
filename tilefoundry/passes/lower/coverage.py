"""Proofs about the windows that a loop nest writes: all elements of an output, and none by two CTAs.

An output is a fresh global tensor that the launch does not clear, so coverage is proven, not assumed: on each axis the
written window is the whole axis, or follows one loop that walks the whole axis in steps of the window; and every other
loop around the write runs at least once.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Expr, Tuple, Var
from tilefoundry.ir.dims import DimVar, dim_equal
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.types import ShapeDim


def why_uncovered(
    shape: Sequence[ShapeDim], sizes: Sequence[ShapeDim], offsets: Tuple, loops: Sequence[GridRegionExpr]
) -> str | None:
    """Where the windows may leave elements unwritten, or None when all are written.

    Args:
        shape: extents of the output.
        sizes: extents of the window, one per axis.
        offsets: start of the window, one per axis.
        loops: the loops around the write, outermost first.
    """
    by_variable = {id(loop.induction_var): loop for loop in loops}
    for axis, (extent, size, offset) in enumerate(zip(shape, sizes, offsets.elements, strict=True)):
        if isinstance(offset, int) or not isinstance(offset, Var):
            if not (_is_zero(offset) and dim_equal(size, extent)):
                return f"on axis {axis}"
            continue
        loop = by_variable.pop(id(offset), None)  # popped: one loop cannot walk two axes
        if loop is None or not (_is_zero(loop.start) and loop.step == size and dim_equal(loop.extent, extent)):
            return f"on axis {axis}"
    for loop in by_variable.values():
        if not _runs(loop):
            return f"when the loop over '{loop.induction_var.name}' does not run"
    return None


def shared_by_iterations(sizes: Sequence[ShapeDim], offsets: Tuple, loops: Sequence[GridRegionExpr]) -> str | None:
    """The variable of a spread loop whose iterations may write the same elements, or None when none do.

    Iterations that are spread over CTAs run in no order, so each must keep to its own step of some axis.
    """
    for loop in loops:
        if loop.spread is None:
            continue
        own = [size for size, offset in zip(sizes, offsets.elements, strict=True) if offset is loop.induction_var]
        if not any(isinstance(size, int) and isinstance(loop.step, int) and size <= loop.step for size in own):
            return loop.induction_var.name
    return None


def _runs(loop: GridRegionExpr) -> bool:
    """Whether the loop provably has an iteration: by numbers, or by the envelope of its extent, which a call checks."""
    if not isinstance(loop.start, int):
        return False
    least = loop.extent.lo if isinstance(loop.extent, DimVar) else loop.extent
    return isinstance(least, int) and least > loop.start


def _is_zero(value: Expr | int) -> bool:
    return isinstance(value, int) and value == 0
