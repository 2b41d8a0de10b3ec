"""Writes a value that lies nowhere yet into a tensor: registers, or a tile in shared memory, or a part of one."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.dims import dim_add, dim_mul, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import BinaryKind, Reshape, Reshard
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import place
from tilefoundry.passes.lower.index.reads import load_chosen, write_chosen
from tilefoundry.passes.lower.index.windows import of_tile
from tilefoundry.passes.lower.shape.windows import along, fresh_type, is_split
from tilefoundry.passes.lower.staging import moves_staged
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Ramp, Reshaped, Scalar, Uniform, Value, Window
from tilefoundry.passes.modes import broadcast_type, fragment_view_type

_STAGE = "go through shared memory: tf.reshard(x, <shape of the tile>, 'smem')"


def write(ctx: Lowering, at: Call, value: Value, dst: Var) -> None:
    """Emits what gives a fragment or a shared tile the value, as each instance's share of it."""
    to = tensor_type(dst)
    shared = to.storage is StorageKind.SMEM
    match value:
        case Uniform(number):
            fill(ctx, number_of(number, to.dtype), dst)
        case Ramp(axis, start, step) if not shared:
            ctx.emit(tir.Iota(axis, step), start, dst)
        case Ramp(axis, start, step):
            ctx.emit(tir.WholeIota(axis, step), start, dst)
        case Window():
            _load(ctx, at, value, dst)
        case Join():
            _join(ctx, at, value, dst)
        case Chosen() if shared:
            write_chosen(ctx, value, of_tile(dst))
        case Chosen():
            load_chosen(ctx, at, value, dst)
        case Deferred() if not shared:
            placed = place(ctx, at, value, fresh_type(to))
            assert isinstance(placed, Var)  # of a tensor
            _copy(ctx, at, placed, dst)
        case Reshaped(inner, shape):
            write(ctx, at, inner, _under(ctx, at, dst, shape))
        case Var() if tensor_type(value).shape:
            _copy(ctx, at, value, dst)
        case Expr():
            fill_scalar(ctx, value, dst)
        case _:
            ctx.refuse(
                at,
                f"cannot write {ctx.describe(value)} to {to.layout} in {to.storage}",
                remedy="place it in registers first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
            )


def number_of(number: float | int | bool, dtype: DType) -> float | int | bool:
    """A number as elements of a dtype write it: 0 is False among bools."""
    if dtype is DType.bool:
        return bool(number)
    return float(number) if dtype.is_float else int(number)


def fill(ctx: Lowering, number: float | int | bool, dst: Var) -> None:
    """Emits what makes every element one number."""
    to = tensor_type(dst)
    if to.storage is StorageKind.RMEM:
        ctx.emit(tir.Fill(number), dst)
    else:
        ctx.emit(tir.WholeFill(), Constant(number, TensorType.umat_scalar(to.dtype)), dst)


def fill_scalar(ctx: Lowering, value: Expr, dst: Var) -> None:
    """Emits what makes every element a scalar that is known when the kernel runs."""
    if tensor_type(dst).storage is StorageKind.RMEM:
        always = Constant(True, TensorType.umat_scalar(DType.bool))
        ctx.emit(tir.Where(), always, value, value, dst)
    else:
        ctx.emit(tir.WholeFill(), value, dst)


def _load(ctx: Lowering, at: Expr, window: Window, dst: Var) -> None:
    if not all(isinstance(size, int) for size in window.sizes):
        ctx.refuse(
            at,
            f"a tile has static extents, got ({', '.join(map(format_dim, window.sizes))}) of '{window.tensor.name}'",
            remedy="walk the symbolic axis with `for i in tile(extent, step)` and index by i",
        )
    box = tuple(size for size in window.sizes if isinstance(size, int))
    ctx.emit(tir.TileLoad(box), window.tensor, Tuple(window.starts), dst)


def _copy(ctx: Lowering, at: Expr, src: Var, dst: Var) -> None:
    """Between registers and tiles: one of the two is seen under the factors of the other."""
    source, to = tensor_type(src), tensor_type(dst)
    if source.storage is StorageKind.SMEM and to.storage is StorageKind.SMEM:
        ctx.emit(tir.WholeCopy(), src, dst)
        return
    seen: TensorType | None
    if StorageKind.SMEM in (source.storage, to.storage):
        tile, fragment = (src, dst) if source.storage is StorageKind.SMEM else (dst, src)
        seen = fragment_view_type(tensor_type(tile), tensor_type(fragment))
        viewed = tile
    else:
        seen, viewed = broadcast_type(to, source), dst
        if seen is None:
            seen, viewed = broadcast_type(source, to), src
    if seen is None and source.storage is to.storage and _may_exchange(ctx, at) and moves_staged(ctx, at, src, dst):
        return
    if seen is None:
        ctx.refuse(
            at,
            f"cannot move {source.layout} in {source.storage} to {to.layout} in {to.storage} directly",
            remedy=_STAGE,
        )
    view = ctx.view(viewed, seen)
    ctx.emit(tir.Copy(), *((view, dst) if viewed is src else (src, view)))


def _may_exchange(ctx: Lowering, at: Expr) -> bool:
    """Whether threads have equal copies of what is moved: an author's reshard says so."""
    if not isinstance(at, Call) or not isinstance(at.target, Reshard):
        return False
    return ctx.uses.is_authored(at) or not ctx.own.of(at.args[0])


def _under(ctx: Lowering, at: Expr, dst: Var, shape: tuple[ShapeDim, ...]) -> Var:
    """The tensor that is written, under the extents that the value had before it was reshaped."""
    try:
        type_ = tensor_type(Call(Reshape(shape), (dst,)))
    except TileFoundryError as error:
        ctx.refuse(
            at,
            f"the layout {tensor_type(dst).layout} has no view of the extents ({', '.join(map(format_dim, shape))}) "
            f"that the value has before it is reshaped: {error.message}",
            remedy="place it before it is reshaped or repeated, with splits that both shapes have, or in 'smem'",
        )
    return ctx.view(dst, type_)


def _join(ctx: Lowering, at: Call, value: Join, dst: Var) -> None:
    if is_split(tensor_type(dst), value.axis):
        _select(ctx, at, value, dst)
        return
    start = 0
    for part, size in zip(value.parts, value.sizes, strict=True):
        if not isinstance(size, int):
            ctx.refuse(
                at,
                f"a tile has static extents, got {format_dim(size)} along axis {value.axis}",
                remedy="join into a result, whose extents may be symbolic, or walk the axis in tiles",
            )
        if size:
            scalar = isinstance(part, Expr) and not tensor_type(part).shape
            write(
                ctx, at, part, along(ctx, at, dst, value.axis, start, size, drop=scalar and tensor_type(dst).rank > 1)
            )
        start += size


def _select(ctx: Lowering, at: Call, value: Join, dst: Var) -> None:
    """Each instance reads its place of every part, and keeps that of the part which it lies in."""
    to = tensor_type(dst)
    coordinate = ctx.alloc("coordinate", replace(fresh_type(to), dtype=DType.i32))
    ctx.emit(tir.Iota(value.axis, 1), 0, coordinate)
    here = ctx.alloc("here", replace(fresh_type(to), dtype=DType.bool))
    piece = ctx.alloc("piece", fresh_type(to))
    start: ShapeDim = 0
    for k, (part, size) in enumerate(zip(value.parts, value.sizes, strict=True)):
        shifted = _shifted(ctx, at, part, value.axis, start, to.shape[value.axis])
        write(ctx, at, shifted, piece if k else dst)
        if k:
            assert isinstance(start, int)  # of a fragment
            first = Constant(start, TensorType.umat_scalar(DType.i32))
            ctx.emit(tir.Binary(BinaryKind.GE), coordinate, first, here)
            ctx.emit(tir.Where(), here, piece, dst, dst)
        start = dim_add(start, size)


def _shifted(ctx: Lowering, at: Expr, part: Value, axis: int, by: ShapeDim, extent: ShapeDim) -> Value:
    """A part as it continues before and after itself along an axis, from ``by`` elements before its first one on."""
    match part:
        case Uniform():
            return part
        case Expr() if not tensor_type(part).shape:
            return part
        case Ramp():
            return replace(part, start=_moved(part.start, by, part.step)) if part.axis == axis else part
        case Join() if part.axis != axis:
            return replace(part, parts=tuple(_shifted(ctx, at, p, axis, by, extent) for p in part.parts))
        case Window():
            t = part.kept[axis]
            starts: tuple[Scalar, ...] = tuple(dim_sub(s, by) if k == t else s for k, s in enumerate(part.starts))
            return replace(part, starts=starts, sizes=tuple(extent if k == t else s for k, s in enumerate(part.sizes)))
    ctx.refuse(
        at,
        f"axis {axis} is split over the mesh, and a part there is {ctx.describe(part)}",
        remedy="place it so that each instance holds the whole axis, or " + _STAGE,
    )


def _moved(start: Scalar, by: ShapeDim, step: int) -> Scalar:
    return dim_sub(start, dim_mul(by, step))
