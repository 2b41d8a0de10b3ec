"""Pad: one number before and after a value along each padded axis."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_add, dim_sub
from tilefoundry.ir.hir import BinaryKind, Pad
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, joined, write_parts
from tilefoundry.passes.lower.shape.place import fill, number_of, write
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import fresh_type, part
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Join, Uniform, Value, Window


@lowers(Pad)
def lower_pad(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, Pad)
    (x,) = call.args
    assert isinstance(x, Expr)
    to = tensor_type(call)
    value = ctx.lower(x)
    if to.storage not in (StorageKind.RMEM, StorageKind.SMEM) or not isinstance(value, Var):
        return joined(ctx, call, _join(ctx, call))
    dst = ctx.alloc(call_hint(call), fresh_type(to) if to.storage is StorageKind.SMEM else to)
    fill(ctx, number_of(op.value, to.dtype), dst)
    write(ctx, call, value, part(ctx, call, dst, _before(op, to.rank), tensor_type(x).shape, (1,) * to.rank))
    return dst


@computes_tiles(Pad)
def pad_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """The window before the padding, and the number where its place lies outside of the value."""
    op, x = call.target, operand(call)
    assert isinstance(op, Pad)
    before = _before(op, len(tile.sizes))
    starts = tuple(dim_sub(start, first) for start, first in zip(tile.starts, before, strict=True))
    value: Expr = tile.placed(p, window(p, x, starts, tile.sizes, ()), *tile.modes)
    number = number_of(op.value, tensor_type(x).dtype)
    for k in range(len(op.pad) // 2):
        axis = len(before) - 1 - k
        if op.pad[2 * k] == op.pad[2 * k + 1] == 0:
            continue
        place = tile.coordinates(p, axis)
        last = dim_add(before[axis], tensor_type(x).shape[axis])
        inside = p.binary(BinaryKind.LT, place, last)
        if before[axis]:
            inside = p.binary(BinaryKind.AND, p.binary(BinaryKind.GE, place, before[axis]), inside)
        value = p.where(inside, value, number)
    return value


def _before(op: Pad, rank: int) -> list[ShapeDim]:
    """The padding before each axis."""
    before: list[ShapeDim] = [0] * rank
    for k in range(len(op.pad) // 2):
        before[rank - 1 - k] = op.pad[2 * k]
    return before


fuses(Pad)


@writes(Pad)
def write_pad(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, _join(ctx, call), out, everywhere)


def _join(ctx: Lowering, call: Call) -> Value:
    """The value with a part before and one after it, along one axis after the other."""
    op = call.target
    assert isinstance(op, Pad)
    (x,) = call.args
    assert isinstance(x, Expr)
    value: Value = whole(ctx, x) or ctx.lower(x)
    shape = tensor_type(x).shape
    around = Uniform(op.value)
    for k in range(len(op.pad) // 2):
        axis, before, after = len(shape) - 1 - k, op.pad[2 * k], op.pad[2 * k + 1]
        if before == after == 0:
            continue
        value = Join(axis, (around, value, around), (before, shape[axis], after))
    return value
