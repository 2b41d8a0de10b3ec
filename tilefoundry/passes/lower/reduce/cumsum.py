"""CumSum: running sums along an axis that instances hold whole.

Of a global tensor, a tile adds up what lies before it, and each lane the part of the axis that it holds; what the lanes
before it hold goes through shared memory.
"""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.hir import BinaryKind, CumSum, ReduceKind, Slice
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import Modes, extent_of, one_axis_of_units, whole
from tilefoundry.passes.lower.reduce.rows import sum_before
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.tile import Tile, staged, window
from tilefoundry.passes.lower.values import Value


@lowers(CumSum)
def lower_cumsum(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, CumSum)
    if is_unplaced(call):
        return deferred(call)
    src = ctx.fragment(operand(call), call)
    dst = ctx.result(call, "sums")
    ctx.emit(tir.Scan(normalize_axis(call.target.axis, tensor_type(src).rank)), src, dst)
    return dst


@computes_tiles(CumSum)
def cumsum_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    assert isinstance(call.target, CumSum)
    axis, x = normalize_axis(call.target.axis, len(tile.sizes)), operand(call)
    size, others = tile.sizes[axis], [modes for k, modes in enumerate(tile.modes) if k != axis]
    lanes = one_axis_of_units(tile.mesh, others, size)
    held = -(-size // extent_of(lanes))
    own = tile.along(axis, tile.starts[axis], lanes + whole(held))
    elements = own.read(p, x)
    wide = p.wide(elements) if tensor_type(x).dtype.is_float else elements
    sums = _over_lanes(p, own, wide, axis, lanes, held) if lanes else p.call(CumSum(axis), wide)
    if tile.starts[axis] != 0:
        sums = p.add(sums, sum_before(p, tile, x, axis, tile.starts[axis]))
    sums = p.cast(sums, tensor_type(call).dtype)
    if own.modes == tile.modes:
        return sums
    together = staged(p, sums, own.sizes)
    return tile.placed(p, window(p, together, (0,) * len(tile.sizes), tile.sizes, ()), *tile.modes)


def _over_lanes(p: Primitives, own: Tile, x: Expr, axis: int, lanes: Modes, held: int) -> Expr:
    """The sums along an axis of which each lane holds a part: its own sums, and what the lanes before it hold."""
    count = extent_of(lanes)

    def tile(of_lanes: Modes, of_elements: Modes) -> Tile:
        """The axis as two: which lane, and which of its elements."""
        modes = (*own.modes[:axis], of_lanes, of_elements, *own.modes[axis + 1 :])
        sizes = tuple(map(extent_of, modes))
        return Tile(0, (0,) * len(sizes), sizes, (0,) * len(sizes), modes, own.mesh)

    apart, last, each = tile(lanes, whole(held)), tile(lanes, ()), tile((), whole(count))
    inner = p.call(CumSum(axis + 1), p.reshape(x, apart.sizes))
    at_last = Tuple(tuple(held - 1 if k == axis + 1 else 0 for k in range(len(apart.sizes))))
    totals = p.reshape(staged(p, p.call(Slice(last.sizes), inner, at_last), last.sizes), each.sizes)
    before = p.binary(BinaryKind.LT, each.coordinates(p, axis + 1), last.coordinates(p, axis))
    zero = 0.0 if tensor_type(x).dtype.is_float else 0
    earlier = p.where(before, each.placed(p, totals, *each.modes), zero)
    return p.reshape(p.add(inner, p.reduce(ReduceKind.SUM, earlier, (axis + 1,))), own.sizes)


fuses(CumSum)
