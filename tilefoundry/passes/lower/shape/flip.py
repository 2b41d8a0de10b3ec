"""Flip: a global tensor is read backwards as it is loaded; registers and tiles are copied backwards."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_add, dim_mul, dim_sub
from tilefoundry.ir.hir import Flip
from tilefoundry.ir.hir.attributes import ints
from tilefoundry.ir.hir.common import normalize_axes
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import flipped, fresh_type, part
from tilefoundry.passes.lower.tile import Tile, lies_in_memory, staged, window
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Ramp, Uniform, Value, Window


@lowers(Flip)
def lower_flip(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    value = whole(ctx, x) or ctx.lower(x)
    shape = tensor_type(x).shape
    axes = _axes(call)
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.SMEM:
        dst = ctx.alloc(call_hint(call), fresh_type(tensor_type(call)))
        ctx.emit(tir.WholeCopy(backwards=axes), value, dst)
        return dst
    if isinstance(value, Deferred | Chosen) and is_unplaced(call):
        return deferred(call)
    if isinstance(value, Expr) and not tensor_type(value).shape:  # the number that every element is
        return joined(ctx, call, value)
    if isinstance(value, Var) and 0 not in shape:
        starts = [dim_sub(e, 1) if k in axes else 0 for k, e in enumerate(shape)]
        backwards = part(ctx, call, value, starts, shape, [-1 if k in axes else 1 for k in range(len(shape))])
        return joined(ctx, call, backwards)
    return _flip(ctx, call, value, axes, shape)


@computes_tiles(Flip)
def flip_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """The window that lies as far from the other end, backwards."""
    axes, shape = _axes(call), tensor_type(call).shape
    starts = tuple(
        dim_sub(dim_sub(shape[k], start), size) if k in axes else start
        for k, (start, size) in enumerate(zip(tile.starts, tile.sizes, strict=True))
    )
    part: Expr = window(p, operand(call), starts, tile.sizes, ())
    if not lies_in_memory(operand(call)):
        part = staged(p, tile.placed(p, part, *tile.modes), tile.sizes)
    return tile.placed(p, p.call(Flip(axes), part), *tile.modes)


fuses(Flip)


@writes(Flip)
def write_flip(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, lower_flip(ctx, call), out, everywhere)


def _axes(call: Call) -> tuple[int, ...]:
    assert isinstance(call.target, Flip)
    return normalize_axes(ints("flip", "axes", call.target.axes), tensor_type(call).rank)


def _flip(ctx: Lowering, call: Call, value: Value, axes: Sequence[int], shape: Sequence[ShapeDim]) -> Value:
    match value:
        case Var() | Uniform():
            return value
        case Ramp(axis, start, step):
            last = dim_add(start, dim_mul(step, dim_sub(shape[axis], 1)))
            return Ramp(axis, last, -step) if axis in axes else value
        case Window():
            return flipped(ctx, value, axes)
        case Join(axis, parts, sizes):
            backwards = []
            for piece, size in zip(parts, sizes, strict=True):
                own = [size if k == axis else e for k, e in enumerate(shape)]
                scalar = isinstance(piece, Expr)
                backwards.append(piece if scalar else _flip(ctx, call, piece, axes, own))
            order = -1 if axis in axes else 1
            return Join(axis, tuple(backwards[::order]), sizes[::order])
    ctx.refuse(
        call,
        f"cannot compile tf.flip of {ctx.describe(value)}",
        remedy="place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
    )
