"""Stack: parts joined along an axis of extent 1 that each of them gets; scalars make a vector."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import BinaryKind, Concat, Stack, Unsqueeze
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.concat import concat_tile, lower_concat, write_concat
from tilefoundry.passes.lower.shape.join import joined, write_parts
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Deferred, Join, Value, Window


@lowers(Stack)
def lower_stack(ctx: Lowering, call: Call) -> Value:
    if is_unplaced(call) and any(isinstance(x, Expr) and isinstance(ctx.lower(x), Deferred) for x in call.args):
        return deferred(call)
    if (scalars := _scalars(ctx, call)) is not None:
        return joined(ctx, call, scalars)
    return lower_concat(ctx, _concat(call))


@computes_tiles(Stack)
def stack_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    if tensor_type(call).rank > 1:
        return concat_tile(p, _concat(call), tile)
    total: Expr | None = None
    place = tile.coordinates(p, 0)
    for k, x in enumerate(call.args):
        piece = tile.filled(p, tile.matching(p, x if isinstance(x, Expr) else Constant(x, INDEX_TYPE)))
        total = piece if total is None else p.where(p.binary(BinaryKind.GE, place, k), piece, total)
    assert total is not None  # a stack has parts
    return total


fuses(Stack)


@writes(Stack)
def write_stack(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    if (scalars := _scalars(ctx, call)) is not None:
        write_parts(ctx, call, scalars, out, everywhere)
    else:
        write_concat(ctx, _concat(call), out, everywhere)


def _scalars(ctx: Lowering, call: Call) -> Join | None:
    if tensor_type(call).rank != 1:
        return None
    parts = tuple(ctx.scalar(x) for x in call.args)
    assert all(isinstance(part, Expr) for part in parts)
    return Join(0, parts, (1,) * len(parts))  # type: ignore[arg-type]  # Exprs


def _concat(call: Call) -> Call:
    assert isinstance(call.target, Stack)
    p = Primitives(call)
    axis = normalize_axis(call.target.axis, tensor_type(call).rank)
    parts = (p.call(Unsqueeze(axis), x) for x in call.args)  # type: ignore[arg-type]  # tensors: not ints
    return Call(Concat(axis), tuple(parts), metadata=call.metadata)
