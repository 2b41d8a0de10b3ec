"""Gather: an element for each index."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Gather
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.index.reads import chosen, chosen_tile, write_value
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Value, Window


@lowers(Gather)
def lower_gather(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Gather)
    return chosen(ctx, call, normalize_axis(call.target.dim, tensor_type(call).rank))


@computes_tiles(Gather)
def gather_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    assert isinstance(call.target, Gather)
    return chosen_tile(p, call, tile, normalize_axis(call.target.dim, len(tile.sizes)))


@writes(Gather)
def write_gather(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_value(ctx, call, out, everywhere)
