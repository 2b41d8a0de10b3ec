"""InsertSlice: of registers, a copy with a window overwritten; of a global tensor, a result of boxes around the window.

Where instances write windows of their own, or from registers, the result is the tensor first, unless the windows are
all of it, and then the windows. That of an output which a loop fills is lowered by ``outputs.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_add, dim_max, dim_min, dim_sub, is_dim_expr
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import InsertSlice, Reshard
from tilefoundry.ir.hir.shape.insert_slice import update_axes
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.base import every_cta
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.coverage import side_by_side, why_uncovered
from tilefoundry.passes.lower.registry import lowers, writer_of, writes
from tilefoundry.passes.lower.shape.any_window import write_anywhere
from tilefoundry.passes.lower.shape.join import call_hint, narrowed, write_parts
from tilefoundry.passes.lower.shape.own_windows import held_by_all, static_extents, store_window
from tilefoundry.passes.lower.shape.place import write
from tilefoundry.passes.lower.shape.slice import coordinates_of, stays_inside, whole
from tilefoundry.passes.lower.shape.windows import exact, fresh_type, part
from tilefoundry.passes.lower.shard.partial import completed
from tilefoundry.passes.lower.values import Scalar, Uniform, Value, Window


@lowers(InsertSlice)
def lower_insert_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, InsertSlice)
    dst, update, offsets = call.args
    assert isinstance(dst, Expr) and isinstance(update, Expr) and isinstance(offsets, Tuple)
    if tensor_type(call).storage not in (StorageKind.RMEM, StorageKind.SMEM):
        ctx.refuse(
            call,
            "tf.insert_slice can be compiled as the update of a result that a loop fills, or of registers or a shared "
            "tile, not as an intermediate value",
            remedy="start from tf.zeros(...) before the loop, update it in the loop, and return it; or insert into a "
            "value in registers",
        )
    extents = tensor_type(dst).shape
    starts = window_starts(ctx, op, offsets, extents)
    for axis, offset in enumerate(offsets.elements):
        if op.boundary[axis] == "clip" and not stays_inside(ctx, offset, op.sizes[axis], extents[axis]):
            ctx.refuse(
                call,
                f"cannot prove that the window of {op.sizes[axis]} at {format_dim(starts[axis])} stays inside axis "
                f"{axis} of extent {format_dim(extents[axis])}, and registers and tiles are written whole windows",
                remedy="walk the axis in steps that divide its extent",
            )
    shared = tensor_type(call).storage is StorageKind.SMEM
    hint = call_hint(call)
    result = ctx.alloc(hint, fresh_type(tensor_type(call)) if shared else tensor_type(call))
    write(ctx, call, ctx.lower(dst), result)
    if 0 in op.sizes:
        return result
    filled = update_axes(op.sizes, tensor_type(update).shape)
    assert filled is not None  # of what the type rule accepts
    lacking = tuple(axis for axis in range(len(op.sizes)) if axis not in filled)
    new = _update(ctx, update)
    if shared and (ctx.own.of(update) or ctx.own.of(offsets)):
        new = held_by_all(ctx, call, new, tensor_type(update))
    if shared or all(isinstance(start, int) for start in starts):
        write(ctx, call, new, part(ctx, call, result, starts, op.sizes, (1,) * len(op.sizes), lacking))
    else:
        write_anywhere(ctx, call, result, starts, op.sizes, lacking, new)
    return result


@writes(InsertSlice)
def write_insert_slice(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    """The boxes before and after the window along each axis, and the window: no element is written twice."""
    op, (dst, update, offsets) = call.target, call.args
    assert isinstance(op, InsertSlice) and isinstance(dst, Expr) and isinstance(update, Expr)
    assert isinstance(offsets, Tuple)
    new = _update(ctx, update)
    old = whole(ctx, dst) or ctx.lower(dst) if writer_of(dst) is None else None
    if coordinates_of(offsets) or not isinstance(old, Window | Uniform) or not isinstance(new, Window | Uniform):
        _write_over(ctx, call, new, exact(ctx, out), everywhere)
        return
    shape = tensor_type(dst).shape
    filled = update_axes(op.sizes, tensor_type(update).shape)
    assert filled is not None  # of what the type rule accepts
    begin = window_starts(ctx, op, offsets, shape)  # all of them before any write
    for axis, (start, size, extent) in enumerate(zip(begin, op.sizes, shape, strict=True)):
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


def _update(ctx: Lowering, update: Expr) -> Value:
    """What is inserted; a reshard to global memory says nothing more about it."""
    match update:
        case Call(target=Reshard(), args=(Expr() as source,)) if tensor_type(update).storage is StorageKind.GMEM:
            return completed(ctx, update, source) or whole(ctx, source) or ctx.lower(source)
    return whole(ctx, update) or ctx.lower(update)


def _write_over(ctx: Lowering, call: Call, new: Value, output: Var, everywhere: bool) -> None:
    """The tensor, and once it lies there the windows; these alone where they are all of it."""
    op, (dst, update, offsets) = call.target, call.args
    assert isinstance(op, InsertSlice) and isinstance(dst, Expr) and isinstance(update, Expr)
    assert isinstance(offsets, Tuple)
    shape = tensor_type(dst).shape
    starts = window_starts(ctx, op, offsets, shape)
    if why_uncovered(shape, *side_by_side(op.sizes, offsets.elements, tensor_type(update))) is not None:
        _write_first(ctx, call, dst, output, everywhere)
    differ = ctx.own.of(update) | ctx.own.of(offsets)
    in_memory = not isinstance(new, Var) or tensor_type(new).storage not in (StorageKind.RMEM, StorageKind.SMEM)
    if in_memory and not differ:
        filled = update_axes(op.sizes, tensor_type(update).shape)
        assert filled is not None  # of what the type rule accepts
        window = Window(output, starts, op.sizes, tuple(k for k in range(len(shape)) if k not in filled))
        write_parts(ctx, call, new, window, everywhere and not coordinates_of(offsets))
        return
    if differ:
        new = held_by_all(ctx, call, new, tensor_type(update))
    assert isinstance(new, Var)
    store_window(ctx, call, new, differ, output, starts, static_extents(ctx, call, op.sizes))


def _write_first(ctx: Lowering, call: Call, dst: Expr, output: Var, everywhere: bool) -> None:
    """Writes the tensor that windows are inserted into, and lets all instances that write meet."""
    meet = tir.Sync(every_cta(ctx.module) if everywhere else None)
    if ctx.in_loop:  # an iteration before may have written its windows there
        ctx.emit(meet)
    extents = tensor_type(output).shape
    out = Window(output, (0,) * len(extents), extents)
    if (write_dst := writer_of(dst)) is not None:
        assert isinstance(dst, Call)
        write_dst(ctx, dst, out, everywhere)
    else:
        write_parts(ctx, call, whole(ctx, dst) or ctx.lower(dst), out, everywhere)
    ctx.emit(meet)


def _narrowed(value: Window | Uniform, axis: int, start: Scalar, size: ShapeDim) -> Window | Uniform:
    return narrowed(value, axis, start, size) if isinstance(value, Window) else value


def window_starts(ctx: Lowering, op: InsertSlice, offsets: Tuple, shape: Sequence[ShapeDim]) -> tuple[Scalar, ...]:
    """Where the window starts on each axis; one that may leave the tensor when the kernel runs is checked there."""
    axes = enumerate(zip(offsets.elements, shape, strict=True))
    return tuple(_offset(ctx, op, axis, offset, extent) for axis, (offset, extent) in axes)


def _offset(ctx: Lowering, op: InsertSlice, axis: int, offset: Expr | int, extent: ShapeDim) -> Scalar:
    clipped = op.boundary[axis] == "clip"
    is_dim = isinstance(offset, int) or offset.type == INDEX_TYPE  # others are read when the kernel runs
    if isinstance(offset, int) or clipped or (is_dim and stays_inside(ctx, offset, op.sizes[axis], extent)):
        start = ctx.scalar(offset)
        known = isinstance(start, int) or is_dim_expr(start)
        return start if known else ctx.bind("start", tir.Index(), (start,), INDEX_TYPE)
    return ctx.bind("start", tir.CheckWindow(axis), (ctx.scalar(offset), op.sizes[axis], extent), INDEX_TYPE)
