"""Proofs about the windows that a loop nest writes: all elements of an output, and none twice.

An output is a fresh global tensor that the launch does not clear, so coverage is proven, not assumed: on each axis the
written window is the whole axis, or follows one loop that walks the whole axis in steps of the window; and every other
loop around the write runs at least once. Windows that instances write side by side, each at the place that its mesh
coordinates say, count as one. CTAs must not meet in an element; threads that may are kept in order by barriers.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.dims import INDEX_TYPE, Dim, DimVar, dim_add, dim_atoms, dim_equal, dim_sub, substitute_dim
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.shard import MeshAxis, ShardLayout, Split
from tilefoundry.ir.types import ShapeDim, TensorType
from tilefoundry.passes.lower.shard.mesh_coordinate import coordinates_in


def side_by_side(
    sizes: Sequence[ShapeDim], offsets: Sequence[Expr | int], update: TensorType
) -> tuple[tuple[ShapeDim, ...], tuple[Expr | int, ...]]:
    """The window that all instances write together, and where it starts.

    Axes on which that is none, or not known to be, stay as they are.

    Args:
        sizes, offsets: of the window of one instance, with one entry for each axis of the tensor.
        update: what is written. Of the window of one instance others write what they own of it.
    """
    spread = [[a for atom in _atoms(offset) for a in coordinates_in(atom)] for offset in offsets]
    used = [axis for axes in spread for axis in axes]
    layout = update.layout
    if isinstance(layout, ShardLayout):
        used += [MeshAxis(layout.mesh, n) for n, attr in enumerate(layout.attrs) if isinstance(attr, Split)]
    if len(set(used)) != len(used) or not _independent(used):
        return tuple(sizes), tuple(offsets)
    joined = [_joined(*window) for window in zip(sizes, offsets, strict=True)]
    return tuple(size for size, _ in joined), tuple(start for _, start in joined)


def _joined(size: ShapeDim, offset: Expr | int) -> tuple[ShapeDim, Expr | int]:
    """Along one axis, for offsets that are sums of multiples of coordinates and of something that is the same."""
    steps: list[tuple[int, int]] = []
    start: Dim = offset
    for atom in _atoms(offset):
        axes = coordinates_in(atom)
        if not axes:
            continue
        step, extent = dim_sub(substitute_dim(start, {atom: dim_add(atom, 1)}), start), axes[0].extent
        if not isinstance(step, int) or not isinstance(extent, int) or step <= 0:
            return size, offset
        steps.append((step, extent))
        start = substitute_dim(start, {atom: 0})
    whole: ShapeDim = size
    for step, extent in sorted(steps):
        if not isinstance(whole, int) or step > whole:
            return size, offset
        whole += step * (extent - 1)
    return whole, start


def _atoms(offset: Expr | int) -> frozenset[Expr]:
    return dim_atoms(offset) if isinstance(offset, Expr) and offset.type == INDEX_TYPE else frozenset()


def _independent(axes: Sequence[MeshAxis]) -> bool:
    """Whether all coordinates occur together: axes of several meshes of one level depend on each other."""
    meshes = {axis.mesh for axis in axes}
    return sum(len(mesh.topologies) for mesh in meshes) == len({t.name for mesh in meshes for t in mesh.topologies})


def why_uncovered(
    shape: Sequence[ShapeDim],
    sizes: Sequence[ShapeDim],
    offsets: Sequence[Expr | int],
    loops: Sequence[GridRegionExpr] = (),
) -> str | None:
    """Where the windows may leave elements unwritten, or None when all are written.

    Args:
        shape: extents of the output.
        sizes: extents of the window, one per axis.
        offsets: start of the window, one per axis.
        loops: the loops around the write, outermost first.
    """
    by_variable = {id(loop.induction_var): loop for loop in loops}
    for axis, (extent, size, offset) in enumerate(zip(shape, sizes, offsets, strict=True)):
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


Windows = Sequence[tuple[Sequence[ShapeDim], Sequence[Expr | int]]]  # sizes and offsets of each, by axis


def apart_by(loop: GridRegionExpr, windows: Windows) -> bool:
    """Whether iterations of a loop provably write different elements, in these windows.

    On some axis, every window starts at the loop's variable and reaches no further than its step.
    """
    return any(
        all(
            isinstance(size, int) and isinstance(loop.step, int) and size <= loop.step and at is loop.induction_var
            for size, at in of_axis
        )
        for of_axis in zip(*(zip(sizes, offsets, strict=True) for sizes, offsets in windows), strict=True)
    )


def may_meet(windows: Windows) -> bool:
    """Whether two windows of one iteration may share an element: on no axis one provably ends before the other."""
    (sizes, offsets), (others, at) = windows
    for size, offset, other, start in zip(sizes, offsets, others, at, strict=True):
        if not (_is_one(offset) and _is_one(start)):
            continue
        ahead = dim_sub(start, offset)
        ends = ((size, ahead), (other, -ahead)) if isinstance(ahead, int) else ()
        if any(isinstance(reach, int) and by >= reach for reach, by in ends):
            return False
    return True


def _is_one(offset: Expr | int) -> bool:
    """Whether an offset is an index that all instances have alike."""
    known = isinstance(offset, int) or offset.type == INDEX_TYPE
    return known and not any(coordinates_in(atom) for atom in _atoms(offset))


def _runs(loop: GridRegionExpr) -> bool:
    """Whether the loop provably has an iteration: by numbers, or by the envelope of its extent, which a call checks."""
    if not isinstance(loop.start, int):
        return False
    least = loop.extent.lo if isinstance(loop.extent, DimVar) else loop.extent
    return isinstance(least, int) and least > loop.start


def _is_zero(value: Expr | int) -> bool:
    return isinstance(value, int) and value == 0
