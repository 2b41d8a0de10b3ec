"""The first elements of an axis in order, and where they are: what Sort and TopK share.

Each element is ranked against its column, in shared memory: all threads of a CTA take part, however long the axis is.
"""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.types import TensorType, TupleType
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.expansion import operand
from tilefoundry.passes.lower.index.windows import emit_on_windows, of_tile
from tilefoundry.passes.lower.staging import cta_part, staged, staging_tile, unstaged
from tilefoundry.passes.lower.values import Parts
from tilefoundry.passes.modes import held


def in_order(ctx: Lowering, call: Call, axis: int, *, largest: bool) -> Parts:
    """Values and indices of a call whose type says how many are wanted, along a non-negative axis."""
    assert isinstance(call.type, TupleType)
    types = [held(t) for t in call.type.fields if isinstance(t, TensorType)]
    source = staged(ctx, call, ctx.fragment(operand(call), call))
    tiles = [staging_tile(ctx, hint, cta_part(t)) for hint, t in zip(("values", "places"), types, strict=True)]
    windows = [of_tile(tile) for tile in (source, *tiles)]
    emit_on_windows(ctx, tir.TopK(tuple(w.kept for w in windows), False, axis, largest), windows)
    results: list[Var] = []
    for tile, type_ in zip(tiles, types, strict=True):
        result = ctx.alloc(f"{tile.name}_held", type_)
        unstaged(ctx, call, tile, result)
        results.append(result)
    return Parts(tuple(results))
