"""Proof that a loop nest writes every element of an output.

An output is a fresh global tensor that the launch does not clear, so coverage is proven, not assumed: on each axis the
written window is the whole axis, or follows one loop that walks the whole axis in steps of the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Expr, Tuple, Var
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.types import ShapeDim


def uncovered_axis(
    shape: Sequence[ShapeDim], sizes: Sequence[ShapeDim], offsets: Tuple, loops: Sequence[GridRegionExpr]
) -> int | None:
    """The first axis of which the windows may leave elements unwritten, or None when all are written.

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
                return axis
            continue
        loop = by_variable.pop(id(offset), None)  # popped: one loop cannot walk two axes
        if loop is None or not (_is_zero(loop.start) and loop.step == size and dim_equal(loop.extent, extent)):
            return axis
    return None


def _is_zero(value: Expr | int) -> bool:
    return isinstance(value, int) and value == 0
