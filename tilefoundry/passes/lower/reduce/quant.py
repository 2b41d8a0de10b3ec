"""Quant: x over the largest magnitude of its group, which counts as an axis of its own meanwhile."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims import dim_floordiv, dim_mod, dim_mul
from tilefoundry.ir.hir import BinaryKind, Quant, ReduceKind, TupleGetItem
from tilefoundry.ir.hir.reduce.quant import FP8_MAX
from tilefoundry.ir.types import DType, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import extent_of, held_by_each, in_two, row_modes, whole
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.tile import Tile, staged, window
from tilefoundry.passes.lower.values import Parts, Scalar, Value

_MOST = 256  # elements of a tile that a thread computes at once


@lowers(Quant)
def lower_quant(ctx: Lowering, call: Call) -> Value:
    if tensor_type(operand(call)).storage in (StorageKind.RMEM, StorageKind.SMEM):
        expanded = expand_quant(Primitives(call), call)
        return Parts(tuple(ctx.lower(e) for e in expanded.elements if isinstance(e, Expr)))
    return Parts((deferred(call, 0), deferred(call, 1)))


def expand_quant(p: Primitives, call: Call) -> Tuple:
    """The elements and the scales, of primitive ops."""
    op = call.target
    assert isinstance(op, Quant)
    shape = tensor_type(operand(call)).shape
    by_group = (*shape[:-1], dim_floordiv(shape[-1], op.group))
    x = p.reshape(p.wide(operand(call)), (*by_group, op.group))
    greatest = p.reduce(ReduceKind.ABS_MAX, x, (-1,))
    scale = p.where(p.binary(BinaryKind.EQ, greatest, 0.0), 1.0, p.div(greatest, FP8_MAX))
    scaled = p.binary(BinaryKind.MIN, p.binary(BinaryKind.MAX, p.div(x, scale), -FP8_MAX), FP8_MAX)
    quantised = p.reshape(p.cast(scaled, op.target), shape)
    return Tuple((quantised, p.reshape(p.cast(scale, DType.f32), by_group)))


@computes_tiles(Quant)
def quant_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """Whole groups, in the layout of the tile where that keeps groups apart, else through shared memory."""
    op, x = call.target, operand(call)
    assert isinstance(op, Quant)
    group, axis = op.group, len(tile.sizes) - 1
    start, size, step, modes = tile.starts[axis], tile.sizes[axis], tile.steps[axis], tile.modes[axis]
    first: Scalar = 0
    at: Scalar = 0  # where the tile starts in what is computed
    fits = False
    if tile.part == 1:
        first, count = dim_mul(start, group), size
    elif size % group == step % group == 0:
        first, count, fits = start, size // group, in_two(modes, group) is not None
    elif group % size == step % size == 0:
        first, count, at = dim_mul(dim_floordiv(start, group), group), 1, dim_mod(start, group)
    else:
        p.refuse(
            f"a tile of tf.quant over {size} elements of groups of {group} cannot be proven to lie in whole groups",
            "walk the last axis in tiles of a multiple of the group, or of a number that divides it",
        )
    spread = row_modes(tile.mesh, tile.modes[:axis], group)
    apart = whole(count) + (spread if extent_of(spread) == group else whole(group))
    if tile.part == 1 and held_by_each(modes, whole(group)) <= held_by_each(apart):
        modes, fits = modes + whole(group), True
    own = tile.along(axis, first, modes if fits else apart)
    if held_by_each(*own.modes) > _MOST:
        p.refuse(
            f"a tile of tf.quant over {count} groups of {group} has {held_by_each(*own.modes)} elements for a thread",
            f"place fewer groups at once, so that it is at most {_MOST}",
        )
    result = p.call(TupleGetItem(tile.part), p.call(op, own.read(p, x)))
    if fits:
        return result
    together = staged(p, result, (*tile.sizes[:axis], count if tile.part == 1 else count * group))
    starts = (*((0,) * axis), at)
    return tile.placed(p, window(p, together, starts, tile.sizes, ()), *tile.modes)


fuses(Quant)
