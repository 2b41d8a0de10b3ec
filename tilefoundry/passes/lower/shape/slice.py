"""Slice of a global tensor: a window."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import dim_add, dim_atoms, dim_equal, dim_sub, substitute_dim
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Slice
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value, Window


@lowers(Slice)
def lower_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Slice)
    x, starts = call.args
    assert isinstance(x, Expr) and isinstance(starts, Tuple)
    window = whole(ctx, x)
    if window is None:
        ctx.refuse(
            call,
            f"cannot compile a slice of {ctx.describe(ctx.lower(x))}",
            remedy="slice the global tensor and reshard the window",
        )
    if any(step != 1 for step in op.strides):
        ctx.refuse(call, f"a window has unit steps, got {op.strides}", remedy="gather the elements with a loop")
    new_starts, sizes, drop = list(window.starts), list(window.sizes), list(window.drop)
    for axis, start, size, k in zip(window.kept, starts.elements, op.sizes, range(len(op.sizes)), strict=True):
        if op.boundary[k] == "error" and not stays_inside(ctx, start, size, window.sizes[axis]):
            # a load has one rule for what lies beyond the extent (zero), which is not what this slice asks for
            ctx.refuse(
                call,
                f"cannot prove that the window of {size} at {format_dim(start)} stays inside axis {k} of extent "
                f"{format_dim(window.sizes[axis])}",
                remedy="walk the axis with `for i in tile(extent, step)` or `for i in range(extent)` and index by i",
            )
        new_starts[axis] = dim_add(new_starts[axis], ctx.scalar(start))
        sizes[axis] = size
        if k in op.drop:
            drop.append(axis)
    return Window(window.tensor, tuple(new_starts), tuple(sizes), tuple(sorted(drop)))


def stays_inside(ctx: Lowering, start: Expr | int, size: ShapeDim, extent: ShapeDim) -> bool:
    """Whether [start, start + size) provably lies in [0, extent)."""
    if isinstance(start, int):
        if isinstance(size, int) and isinstance(extent, int):
            return start >= 0 and start + size <= extent
        return start == 0 and dim_equal(size, extent)
    loop = ctx.loops.get(id(start))
    if loop is None or not isinstance(loop.start, int) or loop.start < 0:
        return False
    if size == 1:
        last = _greatest(ctx, loop.extent)
        return dim_equal(last, extent) or (isinstance(last, int) and isinstance(extent, int) and last <= extent)
    if not (isinstance(loop.extent, int) and isinstance(extent, int) and isinstance(loop.step, int)):
        return False
    return size == loop.step and loop.extent <= extent and (loop.extent - loop.start) % loop.step == 0


def _greatest(ctx: Lowering, dim: ShapeDim) -> ShapeDim:
    """The value of ``dim`` in the last iteration of the loops around it, where it grows with their variables."""
    for atom in dim_atoms(dim):
        loop = ctx.loops.get(id(atom))
        if loop is None:
            continue
        growth = dim_sub(substitute_dim(dim, {atom: dim_add(atom, 1)}), dim)
        if isinstance(growth, int) and growth >= 0:
            return _greatest(ctx, substitute_dim(dim, {atom: dim_sub(loop.extent, 1)}))
    return dim


def whole(ctx: Lowering, expr: Expr) -> Window | None:
    """``expr`` as a window of a global tensor, or None where it is something else."""
    value = ctx.lower(expr)
    if isinstance(value, Window):
        return value
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.GMEM:
        shape = tensor_type(value).shape
        return Window(value, (0,) * len(shape), shape)
    return None
