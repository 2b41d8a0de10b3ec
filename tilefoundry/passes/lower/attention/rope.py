"""Rope: a tile of queries or keys is rotated where it is placed, by the rows of the caches that its positions name."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims import dim_add, dim_floordiv, dim_product, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Arange, BinaryKind, Concat, IndexSelect, Rope, Slice, UnaryKind
from tilefoundry.ir.types import StorageKind, TupleType, make_tensor_type
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import Tile, computes_tiles, deferred, window
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, operand
from tilefoundry.passes.lower.registry import lowers
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

    def factors(cache: Expr) -> Expr:
        part = window(p, cache, (0, column), (places, columns), ())
        chosen = tile.placed(p, p.call(IndexSelect(0), part, rows), tile.modes[-3], tile.modes[-1])
        return p.reshape(p.cast(chosen, computed), (length, 1, columns))

    def elements(shift: Expr | int) -> Expr:
        moved = (*tile.starts[:-1], dim_add(column, shift))
        return p.wide(tile.placed(p, window(p, x, moved, tile.sizes, ()), *tile.modes))

    ramp = p.reshape(p.call(Arange(make_tensor_type((columns,), "i64"))), (1, 1, columns))
    place = tile.placed(p, ramp, (), (), tile.modes[-1])
    # The other of each pair is half a width away: after an element of the low half, before one of the high half.
    low = p.binary(BinaryKind.LT, place, dim_sub(half, column))
    back = elements(dim_sub(0, half))
    other = p.where(low, p.unary(UnaryKind.NEG, elements(half)), back)
    rotated = p.add(p.mul(elements(0), factors(cos)), p.mul(other, factors(sin)))
    return p.cast(rotated, tensor_type(x).dtype)


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
        sizes, before = (*t.shape[:-1], width // 2), (0,) * (t.rank - 1)
        low, high = (p.call(Slice(sizes), wide, Tuple((*before, start))) for start in (0, width // 2))
        other = p.call(Concat(-1), p.unary(UnaryKind.NEG, high), low)
        c, d = (p.cast(factor, compute_dtype(t.dtype)) for factor in chosen)
        rotated.append(p.cast(p.add(p.mul(wide, c), p.mul(other, d)), t.dtype))
    return rotated
