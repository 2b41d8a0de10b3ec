"""Slice: a window of a global tensor, of a shared tile, or of registers.

A start that may leave the tensor when the kernel runs (a parameter, an element that was read) is checked there: the
launch is stopped, as the evaluator stops. Windows by the variable of `for i in tile(...)` read zero beyond the extent.
"""

from __future__ import annotations

import math

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.dims import (
    INDEX_TYPE,
    DimFloorDiv,
    DimMul,
    DimSub,
    DimVar,
    ceildiv,
    dim_add,
    dim_atoms,
    dim_equal,
    dim_max,
    dim_min,
    dim_mul,
    dim_range,
    dim_sub,
    is_dim_expr,
    substitute_dim,
)
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import GridRegionExpr, MatMul, Slice, Transpose
from tilefoundry.ir.shard import Layout, MeshAxis
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computed_anywhere, sliced, step_of
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shard.mesh_coordinate import coordinates_in, is_of_one_cta
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Ramp, Reshaped, Scalar, Uniform, Value, Window
from tilefoundry.passes.sizes import known_multiple


@lowers(Slice)
def lower_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Slice)
    x, begin = call.args
    assert isinstance(x, Expr) and isinstance(begin, Tuple)
    value = whole(ctx, x) or ctx.lower(x)
    extents = tuple(value.sizes[t] for t in value.kept) if isinstance(value, Window) else tensor_type(x).shape
    held = isinstance(value, Var) and tensor_type(value).storage is StorageKind.RMEM
    lies = isinstance(value, Window | Uniform | Ramp | Var)  # what is computed where it is placed, threads may share
    held = held or (lies and ctx.uses.only_held_whole(call))
    starts = [_start(ctx, call, k, start, extents[k], held=held) for k, start in enumerate(begin.elements)]
    match value:
        case Window():
            return _of_window(ctx, call, value, starts)
        case Var() if tensor_type(value).storage is StorageKind.SMEM:
            return _of_tile(ctx, call, value, starts)
        case Var() if tensor_type(value).storage is StorageKind.RMEM:
            return _of_fragment(ctx, call, value, starts)
        case Uniform(number):
            return value if tensor_type(call).shape else Constant(number, tensor_type(call))
        case Expr() if tensor_type(x).shape and not tensor_type(value).shape:
            return value  # the number that every element is
        case Ramp(axis, start, step):
            first = dim_add(start, dim_mul(step, starts[axis]))
            left = [k for k in range(len(op.sizes)) if k not in op.drop]
            if axis in left:
                return Ramp(left.index(axis), first, step * op.strides[axis])
            return Ramp(0, first, 0) if left else _index(ctx, first)
        case Join() if (part := _part_of_join(call, value, starts)) is not None:
            return part
        case Deferred():
            return sliced(ctx, call, value, starts)
        case Chosen() | Join() | Reshaped() if (described := computed_anywhere(ctx, x)) is not None:
            return sliced(ctx, call, described, starts)
    ctx.refuse(
        call,
        f"cannot compile a slice of {ctx.describe(value)}",
        remedy="slice the global tensor and reshard the window",
    )


def _fuses_slice(call: Call, operand: int) -> bool:
    """Windows with unit steps; a number that is computed is no start."""
    assert isinstance(call.target, Slice)
    return operand == 0 and all(step == 1 for step in call.target.strides)


fuses(Slice, _fuses_slice)


@writes(Slice)
def write_slice(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    from tilefoundry.passes.lower.shape.join import write_parts

    write_parts(ctx, call, ctx.lower(call), out, everywhere)


# ---- where a window starts ----------------------------------------------------------------------------------------


def _start(ctx: Lowering, call: Call, k: int, start: Expr | int, extent: ShapeDim, *, held: bool) -> Scalar:
    """The start along an axis; of a window that threads hold for themselves, each may have its own."""
    op = call.target
    assert isinstance(op, Slice)
    for coordinate in coordinates_of(start):
        if not held and not is_of_one_cta(coordinate):
            ctx.refuse(
                call,
                f"the window starts at the coordinate along '{coordinate.name}': each thread would take its own",
                remedy="split the axis over the threads, tf.reshard(x, <extent @ mesh.axis>, 'rmem'), or let each hold "
                "its window whole, in a layout that names no mesh",
            )
    start = _only_value(ctx, start)
    size = dim_add(dim_mul(dim_sub(op.sizes[k], 1), op.strides[k]), 1) if op.sizes[k] != 0 else 0
    is_dim = isinstance(start, int) or start.type == INDEX_TYPE  # others are read when the kernel runs
    if op.boundary[k] != "error" or (is_dim and stays_inside(ctx, start, size, extent)):
        value = ctx.scalar(start)
        return value if isinstance(value, int) or is_dim_expr(value) or _is_index(value) else _index(ctx, value)
    own = any(not is_of_one_cta(coordinate) for coordinate in coordinates_of(start))
    if is_dim and not own and not _is_run_time(ctx, start):
        # a load has one rule for what lies beyond the extent (zero), which is not what this slice asks for
        ctx.refuse(
            call,
            f"cannot prove that the window of {size} at {format_dim(start)} stays inside axis {k} of extent "
            f"{format_dim(extent)}",
            remedy="index by the variable of `for i in tile(extent, step)`, whose window reads zero beyond it",
        )
    return ctx.bind("start", tir.CheckWindow(k), (ctx.scalar(start), size, extent), INDEX_TYPE)


def _only_value(ctx: Lowering, start: Expr | int) -> Expr | int:
    """A start as a number, where it is the variable of a loop that runs once."""
    loop = ctx.loops.get(id(start))
    if loop is None or not isinstance(loop.start, int):
        return start
    runs_once = isinstance(last := _last(loop), int) and last == loop.start
    return loop.start if runs_once else start


def _index(ctx: Lowering, value: Scalar) -> Expr:
    return ctx.bind("start", tir.Index(), (value,), INDEX_TYPE)


def _is_index(value: Scalar) -> bool:
    return isinstance(value, Var) and value.type == INDEX_TYPE


def coordinates_of(start: Expr | int) -> tuple[MeshAxis, ...]:
    """The mesh axes on whose coordinates a start, or a tuple of starts, depends."""
    parts = post_order(start) if isinstance(start, Expr) else ()
    return tuple(axis for part in parts for axis in coordinates_in(part))


def _is_run_time(ctx: Lowering, start: Expr | int) -> bool:
    """Whether only the launch tells: no loop variables and no coordinates are in a start, or a scalar is as well."""
    atoms = dim_atoms(start) if isinstance(start, Expr) else ()
    walks = [id(atom) in ctx.loops or bool(coordinates_in(atom)) for atom in atoms]
    return not any(walks) or any(not (w or isinstance(a, DimVar)) for w, a in zip(walks, atoms, strict=True))


def stays_inside(ctx: Lowering, start: Expr | int, size: ShapeDim, extent: ShapeDim) -> bool:
    """Whether [start, start + size) provably lies in [0, extent) in every iteration of the loops around it."""
    first = _bound(ctx, start, greatest=False)
    slack = dim_sub(extent, dim_add(_bound(ctx, start, greatest=True), size))
    return isinstance(first, int) and first >= 0 and isinstance(slack, int) and slack >= 0


def _bound(ctx: Lowering, dim: ShapeDim, *, greatest: bool) -> ShapeDim:
    """The greatest (or least) value of ``dim``, where it is linear in coordinates and loop variables, or a rest."""
    match dim:  # the normal form of value % divisor
        case Call(
            target=DimSub(),
            args=(
                value,
                Call(target=DimMul(), args=(Call(target=DimFloorDiv(), args=(again, int() as divisor)), times)),
            ),
        ) if times == divisor and value == again:
            return divisor - math.gcd(step_of(ctx, value), divisor) if greatest else 0
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


# ---- what is sliced -----------------------------------------------------------------------------------------------


def whole(ctx: Lowering, expr: Expr) -> Window | None:
    """``expr`` as a window of a global tensor, or None where it is something else."""
    value = ctx.lower(expr)
    if isinstance(value, Window):
        return value
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.GMEM:
        shape = tensor_type(value).shape
        return Window(value, (0,) * len(shape), shape) if shape else None
    return None


def _of_window(ctx: Lowering, call: Call, window: Window, starts: list[Scalar]) -> Value:
    op = call.target
    assert isinstance(op, Slice)
    window = _cut(ctx, call, window)
    if any(step != 1 for step in op.strides):
        window = _strided(ctx, window, starts, op)
        starts = [0 if step != 1 else start for start, step in zip(starts, op.strides, strict=True)]
    new_starts, sizes, drop = list(window.starts), list(window.sizes), list(window.drop)
    for k, (axis, start) in enumerate(zip(window.kept, starts, strict=True)):
        new_starts[axis] = dim_add(new_starts[axis], start)
        sizes[axis] = op.sizes[k]
        if k in op.drop:
            drop.append(axis)
    if not tensor_type(call).shape:
        return ctx.bind("element", tir.Element(), (window.tensor, *new_starts), _scalar_type(call))
    return Window(window.tensor, tuple(new_starts), tuple(sizes), tuple(sorted(drop)))


def _cut(ctx: Lowering, call: Call, window: Window) -> Window:
    """The window over a view of its tensor that ends where it ends, on axes where a part of it may hang over its end.

    What lies beyond a window reads zero, and its tensor may go on there.
    """
    from tilefoundry.passes.lower.shape.windows import global_view

    op, begin = call.target, call.args[1]
    assert isinstance(op, Slice) and isinstance(begin, Tuple)
    extents = tensor_type(window.tensor).shape
    first: list[Scalar] = [0] * len(extents)
    sizes, starts = list(extents), list(window.starts)
    cut = False
    for k, axis in enumerate(window.kept):
        if op.boundary[k] == "error" or dim_equal(dim_add(window.starts[axis], window.sizes[axis]), extents[axis]):
            continue
        if not stays_inside(ctx, begin.elements[k], op.sizes[k], window.sizes[axis]):
            first[axis], starts[axis], cut = window.starts[axis], 0, True
            left = dim_sub(extents[axis], window.starts[axis])
            sizes[axis] = dim_min(window.sizes[axis], left)
    if not cut:
        return window
    tensor = global_view(ctx, window.tensor, tuple(range(len(extents))), sizes, [1] * len(extents), first)
    return Window(tensor, tuple(starts), window.sizes, window.drop)


def _strided(ctx: Lowering, window: Window, starts: list[Scalar], op: Slice) -> Window:
    """The window over a view of its tensor that has every n-th element from the start on."""
    from tilefoundry.passes.lower.shape.windows import global_view

    extents = tensor_type(window.tensor).shape
    steps, sizes, begin = [1] * len(extents), list(extents), list(window.starts)
    firsts: list[Scalar] = [0] * len(extents)
    kept_sizes = list(window.sizes)
    for k, axis in enumerate(window.kept):
        if op.strides[k] != 1:
            steps[axis] = op.strides[k]
            firsts[axis] = dim_add(window.starts[axis], starts[k])
            there = ceildiv(dim_sub(extents[axis], firsts[axis]), steps[axis])
            sizes[axis] = there if there == op.sizes[k] else dim_min(op.sizes[k], there)
            begin[axis], kept_sizes[axis] = 0, op.sizes[k]
    tensor = global_view(ctx, window.tensor, tuple(range(len(extents))), sizes, steps, firsts)
    return Window(tensor, tuple(begin), tuple(kept_sizes), window.drop)


def _of_tile(ctx: Lowering, call: Call, tile: Var, starts: list[Scalar]) -> Value:
    """A view of a shared tile; a matrix operand that does not start at a multiple of 16 bytes gets its own tile."""
    from tilefoundry.passes.lower.shape.windows import fresh_type, part

    op = call.target
    assert isinstance(op, Slice)
    if not tensor_type(call).shape:
        return ctx.bind("element", tir.Element(), (tile, *starts), _scalar_type(call))
    tile, starts = _between_zeros(ctx, call, tile, starts)
    view = part(ctx, call, tile, starts, op.sizes, op.strides, op.drop)
    layout, dtype = tensor_type(tile).layout, tensor_type(tile).dtype
    assert isinstance(layout, Layout) and layout.strides is not None
    offset: ShapeDim = 0
    for start, stride in zip(starts, layout.strides, strict=True):
        offset = dim_add(offset, dim_mul(start, stride))
    aligned = known_multiple(dim_mul(offset, dtype.storage_bits // 8)) == 16
    if aligned or not ctx.uses.any_reader(call, (MatMul, Transpose)):
        return view
    dst = ctx.alloc(f"{tile.name}_tile", fresh_type(tensor_type(view)))
    ctx.emit(tir.WholeCopy(), view, dst)
    return dst


def _between_zeros(ctx: Lowering, call: Call, tile: Var, starts: list[Scalar]) -> tuple[Var, list[Scalar]]:
    """What is sliced with zeros before and after it, as far as a window hangs over its ends, and the starts in that."""
    from tilefoundry.passes.lower.shape.windows import surrounded

    op, begin = call.target, call.args[1]
    assert isinstance(op, Slice) and isinstance(begin, Tuple)
    before, after = [0] * len(starts), [0] * len(starts)
    moved = list(starts)
    for k, extent in enumerate(tensor_type(tile).shape):
        size = op.sizes[k]
        if op.boundary[k] == "error" or size == 0 or extent == 0:
            continue
        assert isinstance(size, int) and isinstance(extent, int)  # of a shared tile, or of registers
        span = (size - 1) * op.strides[k] + 1
        start = _only_value(ctx, begin.elements[k])
        first, last = _bound(ctx, start, greatest=False), _bound(ctx, start, greatest=True)
        if not isinstance(last, int) and (bounds := dim_range(last)) is not None:
            last = bounds[1] - bounds[1] % (step_of(ctx, start) or 1)
        if not isinstance(first, int) or first < 0:
            before[k] = span
            moved[k] = dim_add(dim_max(starts[k], -span), span)  # all zeros, however far it is
        if not isinstance(last, int) or last + span > extent:
            after[k] = span if not isinstance(last, int) else min(span, last + span - extent)
        if not isinstance(last, int) or last > extent:
            moved[k] = dim_min(moved[k], before[k] + extent)
    return surrounded(ctx, tile, before, after), moved


def _of_fragment(ctx: Lowering, call: Call, fragment: Var, starts: list[Scalar]) -> Value:
    from tilefoundry.passes.lower.shape.any_window import read_anywhere
    from tilefoundry.passes.lower.shape.place import write
    from tilefoundry.passes.lower.shape.windows import part

    op = call.target
    assert isinstance(op, Slice)
    fragment, starts = _between_zeros(ctx, call, fragment, starts)
    known = all(isinstance(start, int) for start in starts)
    if not known and 0 not in op.sizes:
        drop = op.drop if tensor_type(call).shape else ()
        window = read_anywhere(ctx, call, fragment, starts, op.sizes, op.strides, drop)
        if not tensor_type(call).shape:
            return ctx.bind("element", tir.Element(), (window,), _scalar_type(call))
        return window
    if not tensor_type(call).shape:
        one = part(ctx, call, fragment, starts, op.sizes, op.strides)
        return ctx.bind("element", tir.Element(), (one,), _scalar_type(call))
    dst = ctx.result(call, "slice")
    if 0 not in op.sizes:
        write(ctx, call, part(ctx, call, fragment, starts, op.sizes, op.strides, op.drop), dst)
    return dst


def _part_of_join(call: Call, value: Join, starts: list[Scalar]) -> Expr | None:
    """One element along the joined axis, which is a part of extent 1: of an extent of `tf.shape_of`, or a stack."""
    op = call.target
    assert isinstance(op, Slice)
    at, start = 0, starts[value.axis]
    if len(op.sizes) == 1 and op.drop and isinstance(start, int):
        for part, size in zip(value.parts, value.sizes, strict=True):
            if at == start and size == 1 and isinstance(part, Expr):
                return part
            if not isinstance(size, int):
                break
            at += size
    return None


def _scalar_type(call: Call) -> TensorType:
    return TensorType.umat_scalar(tensor_type(call).dtype)
