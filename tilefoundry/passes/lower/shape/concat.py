"""Concat: parts written one after the other, where each instance, or each tile, holds the whole axis."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims import dim_add, dim_sub
from tilefoundry.ir.hir import BinaryKind, Concat
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.empty import is_empty
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Join, Scalar, Value, Window


@lowers(Concat)
def lower_concat(ctx: Lowering, call: Call) -> Value:
    return joined(ctx, call, _join(ctx, call))


@computes_tiles(Concat)
def concat_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """Of each part the window at its own distance, chosen by the place along the axis."""
    assert isinstance(call.target, Concat)
    axis = normalize_axis(call.target.axis, len(tile.sizes))
    place = tile.coordinates(p, axis)
    first, total = tile.starts[axis], None
    start: ShapeDim = 0
    for x in call.args:
        assert isinstance(x, Expr)
        size = tensor_type(x).shape[axis]
        if size == 0 or _apart(first, tile.sizes[axis], start, size):
            start = dim_add(start, size)
            continue
        starts = tuple(dim_sub(s, start) if k == axis else s for k, s in enumerate(tile.starts))
        piece = tile.placed(p, window(p, x, starts, tile.sizes, ()), *tile.modes)
        total = piece if total is None else p.where(p.binary(BinaryKind.GE, place, start), piece, total)
        start = dim_add(start, size)
    assert total is not None  # the window has elements
    return total


def _apart(start: Scalar, size: int, other: ShapeDim, extent: ShapeDim) -> bool:
    """Whether [start, start + size) provably does not meet [other, other + extent)."""
    before, after = dim_sub(dim_add(start, size), other), dim_sub(dim_add(other, extent), start)
    return any(isinstance(distance, int) and distance <= 0 for distance in (before, after))


fuses(Concat)


@writes(Concat)
def write_concat(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, _join(ctx, call), out, everywhere)


def _join(ctx: Lowering, call: Call) -> Join:
    assert isinstance(call.target, Concat)
    axis = normalize_axis(call.target.axis, tensor_type(call).rank)
    parts: list[Value] = []
    sizes: list[ShapeDim] = []
    for x in call.args:
        assert isinstance(x, Expr)
        if is_empty(x):
            continue
        gmem = tensor_type(x).storage is StorageKind.GMEM
        parts.append((whole(ctx, x) if gmem else None) or ctx.lower(x))
        sizes.append(tensor_type(x).shape[axis])
    return Join(axis, tuple(parts), tuple(sizes))
