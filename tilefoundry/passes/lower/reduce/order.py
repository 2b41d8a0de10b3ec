"""The first elements of an axis in order, and where they are: what Sort and TopK share.

Each element is ranked against its column, in shared memory: all threads of a CTA take part, however long the axis is.
"""

from __future__ import annotations

import math

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.dims import dim_range
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import ReduceKind, TopK, TupleGetItem
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType, TupleType
from tilefoundry.passes.lower.apart import apart
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import deferred
from tilefoundry.passes.lower.empty import identity
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import HELD, extent_of, held_by_each, row_modes
from tilefoundry.passes.lower.index.windows import emit_on_windows, of_tile
from tilefoundry.passes.lower.staging import cta_part, staging_tile, unstaged
from tilefoundry.passes.lower.staging import staged as staged_fragment
from tilefoundry.passes.lower.tile import Tile, staged, window
from tilefoundry.passes.lower.values import Parts

_PARTS = ("values", "places")
ORDERED = 16384  # elements that a CTA orders at once, however few threads it has


def in_order(ctx: Lowering, call: Call, axis: int, *, largest: bool) -> Parts:
    """Values and indices of a call whose type says how many are wanted, along a non-negative axis."""
    assert isinstance(call.type, TupleType)
    x = operand(call)
    storage = tensor_type(x).storage
    if storage not in (StorageKind.RMEM, StorageKind.SMEM):
        return Parts((deferred(call, 0), deferred(call, 1)))
    types = [ctx.held_type(t) for t in call.type.fields if isinstance(t, TensorType)]
    seen: list[Var] = []
    results: list[Var] = []
    if storage is StorageKind.SMEM:
        source, parts = ctx.shared(x, call), types
    else:
        own = ctx.own.of(x)
        fragment = ctx.fragment(x, call)
        lifted = apart(ctx, call, fragment, own)
        axis += tensor_type(lifted).rank - tensor_type(fragment).rank
        results = [ctx.alloc(f"{hint}_held", type_) for hint, type_ in zip(_PARTS, types, strict=True)]
        seen = [apart(ctx, call, result, own) for result in results]
        source, parts = staged_fragment(ctx, call, lifted), [cta_part(tensor_type(s)) for s in seen]
    tiles = [staging_tile(ctx, hint, part) for hint, part in zip(_PARTS, parts, strict=True)]
    windows = [of_tile(tile) for tile in (source, *tiles)]
    emit_on_windows(ctx, tir.TopK(tuple(w.kept for w in windows), False, axis, largest), windows)
    if storage is StorageKind.SMEM:
        return Parts(tuple(tiles))
    for tile, result in zip(tiles, seen, strict=True):
        unstaged(ctx, call, tile, result)
    return Parts(tuple(results))


def order_tile(p: Primitives, call: Call, tile: Tile, axis: int, count: ShapeDim, *, largest: bool) -> Expr:
    """A tile of the values or the indices: whole rows are ordered in shared memory, and the tile is read from there."""
    t = tensor_type(operand(call))
    extent, wanted = _most(p, t.shape[axis]), _most(p, count)
    others = [modes for k, modes in enumerate(tile.modes) if k != axis]
    # as many as the tiles that cover the result read
    wanted = -(-wanted // tile.sizes[axis]) * tile.sizes[axis]
    modes = row_modes(tile.mesh, others, max(extent, wanted))
    limit = max(HELD, ORDERED // math.prod(n for n in tile.mesh.shape if isinstance(n, int)))
    if held_by_each(*others, modes) > limit:
        most = limit // held_by_each(*others) * (extent_of(modes) // held_by_each(modes))
        many = math.prod(size for k, size in enumerate(tile.sizes) if k != axis)
        remedy = (
            f"place fewer than {many} rows at once, or rows of at most {most} elements"
            if many > 1
            else f"let the axis have at most {most} elements, by its extent or by the bound of its DimVar"
        )
        p.refuse(
            f"rows of {extent} elements (axis {axis}, {format_dim(t.shape[axis])}) are too long to be put in order, of "
            f"which a CTA orders at most {most} elements at once",
            remedy,
        )
    rows = tile.along(axis, 0, modes)

    def order() -> Expr:
        row = rows.read(p, operand(call))
        if t.shape[axis] != extent_of(modes):
            row = rows.up_to(p, row, axis, t.shape[axis], _last(t.dtype, largest))
        return p.call(TopK(wanted, axis, largest), staged(p, row, rows.sizes))

    ordered = tile.once(call, order)
    at = [start if k == axis else 0 for k, start in enumerate(tile.starts)]
    return tile.placed(p, window(p, p.call(TupleGetItem(tile.part), ordered), at, tile.sizes, ()), *tile.modes)


def _most(p: Primitives, extent: ShapeDim) -> int:
    if isinstance(extent, int):
        return extent
    bounds = dim_range(extent)
    if bounds is None:
        p.refuse(
            f"rows of {format_dim(extent)} elements are ordered in shared memory, whose extents are known",
            "declare the axis with a number, or by a DimVar with a bound",
        )
    return bounds[1]


def _last(dtype: DType, largest: bool) -> float | int:
    """What comes after all elements, or after those that equal it, since it stands behind them."""
    if not largest and dtype.is_float:
        return float("nan")
    number = identity(ReduceKind.MAX if largest else ReduceKind.MIN, dtype)
    return float(number) if dtype.is_float else int(number)
