"""Rope: a tile of queries or keys is rotated where it is placed, by the rows of the caches that its positions name."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims import dim_add, dim_floordiv, dim_product, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Arange, BinaryKind, Concat, IndexSelect, Rope, Slice, UnaryKind
from tilefoundry.ir.types import StorageKind, TupleType, make_tensor_type
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, operand
from tilefoundry.passes.lower.fragments import Mode, Modes, whole
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Parts, Value


@lowers(Rope)
def lower_rope(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Rope) and isinstance(call.type, TupleType)
    storage = tensor_type(operand(call)).storage
    if storage is StorageKind.GMEM:
        return Parts((deferred(call, 0), deferred(call, 1)))
    if storage is not StorageKind.RMEM:
        ctx.refuse(
            call,
            f"tf.rope of tiles in {storage} cannot be compiled",
            remedy="leave the operands in global memory, and place windows of what it gives: "
            "tf.reshard(rotated[b, s], <layout over the thread mesh>, 'rmem')",
        )
    rotated = _of_fragments(Primitives(call), call)
    for x in rotated:
        ctx.uses.include(x)
    return Parts(tuple(ctx.lower(x) for x in rotated))


@computes_tiles(Rope)
def rope_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    x, cos, sin, positions = operand(call, tile.part), *(operand(call, k) for k in range(2, 5))
    *_, first, _, column = tile.starts
    length, _, columns = tile.sizes[-3:]
    width, places = tensor_type(x).shape[-1], tensor_type(cos).shape[0]
    half, computed = dim_floordiv(width, 2), compute_dtype(tensor_type(x).dtype)
    rows = window(p, p.reshape(positions, (dim_product(tensor_type(positions).shape),)), (first,), (length,), ())

    halves = _halves(tile, width)
    modes = halves or tile.modes[-1]

    def factors(cache: Expr) -> Expr:
        part = window(p, cache, (0, column), (places, columns), ())
        chosen = tile.placed(p, p.call(IndexSelect(0), part, rows), tile.modes[-3], modes)
        return p.reshape(p.cast(chosen, computed), (length, 1, columns))

    def elements(shift: Expr | int) -> Expr:
        moved = (*tile.starts[:-1], dim_add(column, shift))
        return p.wide(tile.placed(p, window(p, x, moved, tile.sizes, ()), *tile.modes[:-1], modes))

    own = elements(0)
    if halves is not None:
        pairs = p.reshape(own, (*tile.sizes[:-1], 2, columns // 2))
        other = p.reshape(_turned(p, pairs, -2), tile.sizes)
    else:
        # The other of each pair is half a width away: after an element of the low half, before one of the high half.
        ramp = p.reshape(p.call(Arange(make_tensor_type((columns,), "i64"))), (1, 1, columns))
        low = p.binary(BinaryKind.LT, tile.placed(p, ramp, (), (), modes), dim_sub(half, column))
        other = p.where(low, p.unary(UnaryKind.NEG, elements(half)), elements(dim_sub(0, half)))
    rotated = p.add(p.mul(own, factors(cos)), p.mul(other, factors(sin)))
    return p.cast(rotated, tensor_type(x).dtype)


def _halves(tile: Tile, width: Dim) -> Modes | None:
    """The modes of the last axis with its halves as the first one, where each unit holds both of a pair."""
    modes, whole_width = tile.modes[-1], tile.starts[-1] == 0 and tile.sizes[-1] == width
    if not whole_width or not modes or modes[0].split is not None or modes[0].extent % 2:
        return None
    return (Mode(2), *whole(modes[0].extent // 2), *modes[1:])


def _turned(p: Primitives, x: Expr, axis: int) -> Expr:
    """The negated second half along an axis that each unit holds whole, then the first half."""
    shape = tensor_type(x).shape
    axis %= len(shape)
    count = shape[axis]
    assert isinstance(count, int)  # of fragments
    sizes = tuple(count // 2 if k == axis else extent for k, extent in enumerate(shape))
    low, high = (
        p.call(Slice(sizes), x, Tuple(tuple(start if k == axis else 0 for k in range(len(shape)))))
        for start in (0, count // 2)
    )
    return p.call(Concat(axis), p.unary(UnaryKind.NEG, high), low)


def _of_fragments(p: Primitives, call: Call) -> list[Expr]:
    """Operands in registers, of which each unit holds the last axis whole."""
    q, k, cos, sin, positions = (operand(call, i) for i in range(5))
    *_, length, _, width = tensor_type(q).shape
    if not isinstance(width, int):
        p.refuse(f"a fragment has static extents, got {format_dim(width)}", "declare the axis with a number")
    rows = p.reshape(positions, (length,))
    chosen = [p.reshape(p.call(IndexSelect(0), cache, rows), (length, 1, width)) for cache in (cos, sin)]
    rotated = []
    for x in (q, k):
        t, wide = tensor_type(x), p.wide(x)
        other = _turned(p, wide, -1)
        c, d = (p.cast(factor, compute_dtype(t.dtype)) for factor in chosen)
        rotated.append(p.cast(p.add(p.mul(wide, c), p.mul(other, d)), t.dtype))
    return rotated
