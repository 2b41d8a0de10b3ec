"""InsertSlice: of registers, a copy with a window overwritten; of a global tensor, a result of boxes around the window.

That of an output which a loop fills is lowered by ``outputs.py``.
"""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims import INDEX_TYPE, dim_add, dim_max, dim_min, dim_sub, is_dim_expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import InsertSlice
from tilefoundry.ir.hir.shape.insert_slice import update_axes
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.shape.join import narrowed, write_parts
from tilefoundry.passes.lower.shape.place import write
from tilefoundry.passes.lower.shape.slice import stays_inside, whole
from tilefoundry.passes.lower.shape.windows import part
from tilefoundry.passes.lower.values import Scalar, Uniform, Value, Window


@lowers(InsertSlice)
def lower_insert_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, InsertSlice)
    dst, update, offsets = call.args
    assert isinstance(dst, Expr) and isinstance(update, Expr) and isinstance(offsets, Tuple)
    if tensor_type(call).storage is not StorageKind.RMEM:
        ctx.refuse(
            call,
            "tf.insert_slice can be compiled as the update of a result that a loop fills, or of registers, not as an "
            "intermediate value",
            remedy="start from tf.zeros(...) before the loop, update it in the loop, and return it; or insert into a "
            "value in registers",
        )
    starts = [ctx.scalar(offset) for offset in offsets.elements]
    if not all(isinstance(start, int) for start in starts):
        ctx.refuse(
            call,
            f"registers are indexed by numbers that are known when the program is compiled, got "
            f"({', '.join(map(format_dim, starts))})",
            remedy="update a result in global memory, or choose by tf.where on tf.arange(...)",
        )
    result = ctx.result(call, "inserted")
    write(ctx, call, ctx.lower(dst), result)
    if 0 not in op.sizes:
        filled = update_axes(op.sizes, tensor_type(update).shape)
        assert filled is not None  # of what the type rule accepts
        lacking = tuple(axis for axis in range(len(op.sizes)) if axis not in filled)
        window = part(ctx, call, result, starts, op.sizes, (1,) * len(op.sizes), lacking)
        gmem = tensor_type(update).storage is StorageKind.GMEM
        write(ctx, call, (whole(ctx, update) if gmem else None) or ctx.lower(update), window)
    return result


@writes(InsertSlice)
def write_insert_slice(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    """The boxes before and after the window along each axis, and the window: no element is written twice."""
    op, (dst, update, offsets) = call.target, call.args
    assert isinstance(op, InsertSlice) and isinstance(dst, Expr) and isinstance(update, Expr)
    assert isinstance(offsets, Tuple)
    old, new = (whole(ctx, x) or ctx.lower(x) for x in (dst, update))
    if not isinstance(old, Window | Uniform) or not isinstance(new, Window | Uniform):
        what = old if not isinstance(old, Window | Uniform) else new
        ctx.refuse(
            call,
            f"tf.insert_slice writes to global memory from tensors that lie there, got {ctx.describe(what)}",
            remedy="update a result in the loop that fills it, or return the operand first",
        )
    shape = tensor_type(dst).shape
    filled = update_axes(op.sizes, tensor_type(update).shape)
    assert filled is not None  # of what the type rule accepts
    for axis, (size, extent) in enumerate(zip(op.sizes, shape, strict=True)):
        start = _offset(ctx, op, axis, offsets.elements[axis], extent)
        first, end = start, dim_add(start, size)
        if op.boundary[axis] == "clip":
            first = dim_min(extent, dim_max(0, start))
            end = dim_max(first, dim_min(extent, end))
        # bounds by the extent, which hold anyway, tell the launch how much there is to do
        for at, count in ((0, dim_min(extent, first)), (end, dim_min(extent, dim_sub(extent, end)))):
            if count != 0:
                write_parts(ctx, call, _narrowed(old, axis, at, count), narrowed(out, axis, at, count), everywhere)
        count = dim_min(size, dim_sub(end, first))
        old, out = _narrowed(old, axis, first, count), narrowed(out, axis, first, count)
        if axis in filled:
            new = _narrowed(new, filled.index(axis), dim_sub(first, start), count)
    lacking = tuple(out.kept[axis] for axis in range(len(shape)) if axis not in filled)
    write_parts(ctx, call, new, replace(out, drop=tuple(sorted((*out.drop, *lacking)))), everywhere)


def _narrowed(value: Window | Uniform, axis: int, start: Scalar, size: ShapeDim) -> Window | Uniform:
    return narrowed(value, axis, start, size) if isinstance(value, Window) else value


def _offset(ctx: Lowering, op: InsertSlice, axis: int, offset: Expr | int, extent: ShapeDim) -> Scalar:
    """Where the window starts; one that may leave the tensor when the kernel runs is checked there."""
    clipped = op.boundary[axis] == "clip"
    is_dim = isinstance(offset, int) or offset.type == INDEX_TYPE  # others are read when the kernel runs
    if isinstance(offset, int) or clipped or (is_dim and stays_inside(ctx, offset, op.sizes[axis], extent)):
        start = ctx.scalar(offset)
        known = isinstance(start, int) or is_dim_expr(start)
        return start if known else ctx.bind("start", tir.Index(), (start,), INDEX_TYPE)
    return ctx.bind("start", tir.CheckWindow(axis), (ctx.scalar(offset), op.sizes[axis], extent), INDEX_TYPE)
