"""Slice of a global tensor: a window."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import dim_add, dim_atoms, dim_sub, substitute_dim
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import GridRegionExpr, Slice
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import sliced
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.shard.mesh_coordinate import coordinates_in, is_of_one_cta
from tilefoundry.passes.lower.values import Deferred, Value, Window


@lowers(Slice)
def lower_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Slice)
    x, starts = call.args
    assert isinstance(x, Expr) and isinstance(starts, Tuple)
    window = whole(ctx, x)
    if isinstance(value := ctx.lower(x), Deferred):
        return sliced(ctx, call, value, [ctx.scalar(start) for start in starts.elements])
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
        for coordinate in coordinates_in(start):
            if not is_of_one_cta(coordinate):
                ctx.refuse(
                    call,
                    f"the window starts at the coordinate along '{coordinate.name}': each thread would take its own",
                    remedy="split the axis over the threads: tf.reshard(x, <extent @ mesh.axis>, 'rmem')",
                )
        if op.boundary[k] == "error" and not stays_inside(ctx, start, size, window.sizes[axis]):
            # a load has one rule for what lies beyond the extent (zero), which is not what this slice asks for
            ctx.refuse(
                call,
                f"cannot prove that the window of {size} at {format_dim(start)} stays inside axis {k} of extent "
                f"{format_dim(window.sizes[axis])}",
                remedy="index by the variable of `for i in tile(extent, step)`, whose window reads zero beyond it",
            )
        new_starts[axis] = dim_add(new_starts[axis], ctx.scalar(start))
        sizes[axis] = size
        if k in op.drop:
            drop.append(axis)
    return Window(window.tensor, tuple(new_starts), tuple(sizes), tuple(sorted(drop)))


def stays_inside(ctx: Lowering, start: Expr | int, size: ShapeDim, extent: ShapeDim) -> bool:
    """Whether [start, start + size) provably lies in [0, extent) in every iteration of the loops around it."""
    first = _bound(ctx, start, greatest=False)
    slack = dim_sub(extent, dim_add(_bound(ctx, start, greatest=True), size))
    return isinstance(first, int) and first >= 0 and isinstance(slack, int) and slack >= 0


def _bound(ctx: Lowering, dim: ShapeDim, *, greatest: bool) -> ShapeDim:
    """The greatest (or least) value of ``dim``, where it is linear in coordinates and loop variables."""
    for atom in dim_atoms(dim):
        loop = ctx.loops.get(id(atom))
        axes = coordinates_in(atom)
        if loop is None and not axes:
            continue
        growth = dim_sub(substitute_dim(dim, {atom: dim_add(atom, 1)}), dim)
        if isinstance(growth, int):
            first, last = (loop.start, _last(loop)) if loop is not None else (0, dim_sub(axes[0].extent, 1))
            value = last if (growth >= 0) == greatest else first
            return _bound(ctx, substitute_dim(dim, {atom: value}), greatest=greatest)
    return dim


def _last(loop: GridRegionExpr) -> ShapeDim:
    """The value of the variable in the last iteration; for symbolic bounds, one that it does not exceed."""
    if isinstance(loop.start, int) and isinstance(loop.extent, int) and isinstance(loop.step, int):
        return loop.start + (loop.extent - 1 - loop.start) // loop.step * loop.step
    return dim_sub(loop.extent, 1)


def whole(ctx: Lowering, expr: Expr) -> Window | None:
    """``expr`` as a window of a global tensor, or None where it is something else."""
    value = ctx.lower(expr)
    if isinstance(value, Window):
        return value
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.GMEM:
        shape = tensor_type(value).shape
        return Window(value, (0,) * len(shape), shape)
    return None
