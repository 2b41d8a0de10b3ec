"""Results: every result of a function is an output parameter that the kernel writes in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import dim_add
from tilefoundry.ir.hir import (
    Arange,
    Concat,
    FullLike,
    GridRegionExpr,
    InsertSlice,
    MeshCoordinate,
    Reshard,
    Stack,
    TupleGetItem,
    Zeros,
)
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.hir.shape.insert_slice import update_axes
from tilefoundry.ir.tir import StoreScalar, Sync, TileStore
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.coverage import apart_by, may_meet, side_by_side, why_uncovered
from tilefoundry.passes.lower.empty import is_empty, without_empty_updates
from tilefoundry.passes.lower.registry import writer_for
from tilefoundry.passes.lower.shape.insert_slice import window_starts
from tilefoundry.passes.lower.shape.join import narrowed, write_parts
from tilefoundry.passes.lower.shape.own_windows import static_extents, store_window
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import exact
from tilefoundry.passes.lower.shard.partial import completed, completed_scalar
from tilefoundry.passes.lower.values import Deferred, Window

Destinations = dict[int, Var]
Regions = dict[int, tuple[GridRegionExpr, Destinations]]


def store_results(ctx: Lowering, results: tuple[Expr, ...], outputs: tuple[Var, ...]) -> None:
    """Emits what writes each result into its output.

    Where loops write is said first: what a loop carries beside its results may be part of another one.
    """
    regions: Regions = {}
    rest = [pair for r, o in zip(results, outputs, strict=True) for pair in _destine(ctx, r, o, regions)]
    for region, destinations in regions.values():
        for k in destinations:
            _check_filled(ctx, region, k)
    for result, output in rest:
        _store(ctx, result, output)
    for region, _ in regions.values():
        ctx.carried(region)


def _destine(ctx: Lowering, result: Expr, output: Var, regions: Regions) -> list[tuple[Expr, Var]]:
    """Says where the loops among a result write; gives the other parts of it, each with its place."""
    if is_empty(result):
        return []
    result = without_empty_updates(result)
    if isinstance(result, Call) and isinstance(result.target, (Concat, Stack)) and _is_loop(result):
        parts = [(part, window) for part, window in _parts_of(result, output) if not is_empty(part)]
        return [pair for part, window in parts for pair in _destine(ctx, part, exact(ctx, window), regions)]
    if not _is_loop(result):
        return [(result, output)]
    region, index = _loop_of(result)
    if index in regions.setdefault(id(region), (region, {}))[1]:
        ctx.refuse(
            result,
            "one value that a loop fills is returned twice",
            remedy="fill a tf.zeros(...) of its own for each result",
        )
    regions[id(region)][1][index] = output
    ctx.destine(region, index, output)
    return []


def _store(ctx: Lowering, result: Expr, output: Var) -> None:
    shape = tensor_type(output).shape
    match result:
        case _ if not tensor_type(result).shape:
            ctx.emit(StoreScalar(), _scalar(ctx, result), output)
        case Call(target=Reshard(), args=(Expr() as source,)) if _stays_in_memory(source):
            _store(ctx, source, output)
        case Call(target=Reshard(), args=(Expr() as source,)) if tensor_type(result).storage is StorageKind.GMEM:
            _store_whole(ctx, result, source, output)
        case Call(target=Op() as op) if (write := writer_for(type(op))) is not None:
            write(ctx, result, Window(output, (0,) * len(shape), shape), True)
        case Var() | Call(target=Zeros() | FullLike() | Arange()):
            _store_whole(ctx, result, result, output)
        case _:
            ctx.refuse(
                result,
                "a result must be a reshard to 'gmem' or a loop that fills tf.zeros(...) by tf.insert_slice",
                remedy="end with tf.reshard(x, <layout>, 'gmem')",
            )


def _is_loop(expr: Expr | int) -> bool:
    """Whether a value is what a loop fills, or is joined of such values."""
    match expr:
        case GridRegionExpr() | Call(target=TupleGetItem(), args=(GridRegionExpr(),)):
            return True
        case Call(target=Concat() | Stack(), args=args):
            return any(map(_is_loop, args))
    return False


def _loop_of(result: Expr) -> tuple[GridRegionExpr, int]:
    if isinstance(result, GridRegionExpr):
        return result, 0
    assert isinstance(result, Call) and isinstance(result.target, TupleGetItem)
    (region,) = result.args
    assert isinstance(region, GridRegionExpr)
    return region, result.target.index


def _parts_of(joined: Call, output: Var) -> list[tuple[Expr, Window]]:
    """The parts of a joined result, each with the window of the output that it is."""
    assert isinstance(joined.target, (Concat, Stack))
    shape = tensor_type(joined).shape
    axis = normalize_axis(joined.target.axis, len(shape))
    stacked = isinstance(joined.target, Stack)
    found: list[tuple[Expr, Window]] = []
    start: ShapeDim = 0
    for part in joined.args:
        assert isinstance(part, Expr)
        size = 1 if stacked else tensor_type(part).shape[axis]
        window = narrowed(Window(output, (0,) * len(shape), shape), axis, start, size)
        found.append((part, replace(window, drop=(axis,)) if stacked else window))
        start = dim_add(start, size)
    return found


def store_carry(ctx: Lowering, value: Expr, carried: Var, output: Var) -> None:
    """Emits what turns the carried global tensor ``carried`` into ``value``, written to ``output``."""
    value = without_empty_updates(value)
    write = _written(value)
    if value is carried:
        return
    if write is not None:
        store_carry(ctx, write.before, carried, output)
        if any(_may_meet(write, earlier) for earlier in _writes_of(write.before, carried)):
            ctx.emit(Sync())
    if isinstance(write, _Insert):
        offsets = Tuple(window_starts(ctx, write.op, write.offsets, tensor_type(output).shape))
        if _stays_in_memory(write.update):
            _write_window(ctx, write, output, offsets)
            return
        differ = ctx.own.of(write.update) | ctx.own.of(write.offsets)
        held, sizes = _held(ctx, write.update), static_extents(ctx, value, write.op.sizes)
        store_window(ctx, write.call, held, differ, output, offsets.elements, sizes)
        return
    if isinstance(write, _Loop):
        ctx.carried(write.region)
        return
    ctx.refuse(
        value,
        "a global tensor that a loop carries can only be updated by tf.insert_slice",
        remedy=f"write {carried.name} = tf.insert_slice({carried.name}, tile, offsets)",
    )


def destine_carry(ctx: Lowering, value: Expr, carried: Var, output: Var) -> None:
    """Says where the loops write that turn ``carried`` into ``value``, before any of them is emitted."""
    value = without_empty_updates(value)
    write = _written(value)
    if value is carried or write is None:
        return
    if isinstance(write, _Loop):
        ctx.destine(write.region, write.carry, output)
    destine_carry(ctx, write.before, carried, output)


def order_iterations(ctx: Lowering, region: GridRegionExpr, carry: int) -> None:
    """Emits, at the start of the body, what keeps an iteration's writes behind those of the one before.

    Threads have other elements of a window in each iteration that moves it.
    """
    if not _apart_by(region, _inserts_of(region, carry)):
        ctx.emit(Sync())


def _held(ctx: Lowering, update: Expr) -> Var:
    """What a window is written from: a fragment, or a tile of the CTA."""
    value = ctx.lower(update)
    if isinstance(value, Var) and tensor_type(value).storage is StorageKind.SMEM:
        return value
    return ctx.fragment(update)


def _stays_in_memory(update: Expr) -> TypeGuard[Call]:
    """Whether a value goes from global memory to global memory without being placed in between."""
    return (
        isinstance(update, Call)
        and isinstance(update.target, Op)
        and writer_for(type(update.target)) is not None
        and tensor_type(update).storage is StorageKind.GMEM
    )


def _write_window(ctx: Lowering, write: _Insert, output: Var, offsets: Tuple) -> None:
    """Lets an op write its value where it is inserted, by the CTA whose iteration this is, or by all of them."""
    assert isinstance(write.update, Call) and isinstance(write.update.target, Op)
    spread = [
        loop.spread
        for offset in write.offsets.elements
        if (loop := ctx.loops.get(id(offset))) is not None and loop.spread is not None
    ]
    if spread and len({axis.axis for axis in spread}) != spread[0].mesh.rank:
        idle = ", ".join(name for k, name in enumerate(spread[0].mesh.names) if k not in {a.axis for a in spread})
        ctx.refuse(
            write.call,
            f"CTAs that differ along '{idle}' only would all write this window, which is updated in place",
            remedy="spread loops over every axis of the cta mesh, or use a mesh of one axis",
        )
    kept = update_axes(write.op.sizes, tensor_type(write.update).shape)
    assert kept is not None  # typed
    drop = tuple(axis for axis in range(len(write.op.sizes)) if axis not in kept)
    write_value = writer_for(type(write.update.target))
    assert write_value is not None
    write_value(ctx, write.update, Window(output, tuple(offsets.elements), write.op.sizes, drop), not spread)


def _store_whole(ctx: Lowering, result: Expr, source: Expr, output: Var) -> None:
    shape = tensor_type(output).shape
    value = completed(ctx, result, source) or whole(ctx, source) or ctx.lower(source)
    if isinstance(value, Var) and tensor_type(value).shape:
        box = static_extents(ctx, source, shape)
        ctx.emit(TileStore(box), value, output, Tuple((0,) * len(box)))
    else:
        write_parts(ctx, result, value, Window(output, (0,) * len(shape), shape), everywhere=True)


def _scalar(ctx: Lowering, result: Expr) -> Expr:
    """A result of rank 0, which must be the same in all instances: one of each CTA writes it."""
    source = result.args[0] if isinstance(result, Call) and isinstance(result.target, Reshard) else result
    assert isinstance(source, Expr)
    total = completed_scalar(ctx, result, source)
    value = total or ctx.scalar(result if isinstance(ctx.lower(source), Deferred) else source)
    for part in post_order(source):
        if isinstance(part, Call) and isinstance(part.target, MeshCoordinate):
            ctx.refuse(
                result,
                f"a result of rank 0 is one number, and this one depends on the coordinate along "
                f"'{part.target.axis.name}'",
                remedy="return a tensor that has an element for each coordinate",
            )
    return value if isinstance(value, Expr) else Constant(value, tensor_type(result))


# ---- what a carried global tensor becomes -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Insert:
    call: Call
    before: Expr
    update: Expr
    offsets: Tuple

    @property
    def op(self) -> InsertSlice:
        """The op, with the sizes and the boundaries of the window."""
        assert isinstance(self.call.target, InsertSlice)
        return self.call.target

    @property
    def window(self) -> tuple[tuple[ShapeDim, ...], tuple[Expr | int, ...]]:
        """Sizes and offsets of what all instances write together."""
        return side_by_side(self.op.sizes, self.offsets.elements, tensor_type(self.update))


@dataclass(frozen=True, slots=True)
class _Loop:
    region: GridRegionExpr
    carry: int

    @property
    def before(self) -> Expr:
        """What the loop starts from."""
        return self.region.init_args[self.carry]


def _written(value: Expr) -> _Insert | _Loop | None:
    match value:
        case Call(target=InsertSlice(), args=(Expr() as dst, Expr() as update, Tuple() as offsets)) as call:
            return _Insert(call, dst, update, offsets)
        case GridRegionExpr():
            return _Loop(value, 0)
        case Call(target=TupleGetItem(index), args=(GridRegionExpr() as region,)):
            return _Loop(region, index)
    return None


def _writes_of(value: Expr, carried: Expr) -> list[_Insert | _Loop]:
    """What turns ``carried`` into ``value``, the last one first; what no kernel can do ends the list."""
    found: list[_Insert | _Loop] = []
    while (value := without_empty_updates(value)) is not carried and (write := _written(value)) is not None:
        found.append(write)
        value = write.before
    return found


Nested = list[tuple[_Insert, list[GridRegionExpr]]]


def _inserts_of(region: GridRegionExpr, carry: int, around: Sequence[GridRegionExpr] = ()) -> Nested:
    """What a loop writes, also in loops inside of it, each with the loops around it from ``region`` on."""
    loops = [*around, region]
    found: Nested = []
    for write in _writes_of(region.yield_values[carry], region.carried_args[carry]):
        found += [(write, loops)] if isinstance(write, _Insert) else _inserts_of(write.region, write.carry, loops)
    return found


def _apart_by(loop: GridRegionExpr, inserts: Nested) -> bool:
    return apart_by(loop, [insert.window for insert, _ in inserts])


def _may_meet(write: _Insert | _Loop, other: _Insert | _Loop) -> bool:
    if isinstance(write, _Loop) or isinstance(other, _Loop):
        return True
    return may_meet((other.window, write.window))


def _check_filled(ctx: Lowering, region: GridRegionExpr, carry: int) -> None:
    init = region.init_args[carry]
    if isinstance(_written(init), _Loop):
        ctx.refuse(
            region,
            "a second loop goes on filling what a loop before it has filled; one loop must fill a result",
            remedy="fill the whole result in one loop, e.g. by two insert_slice calls in its body, or return two "
            "results, each from a tf.zeros(...) of its own",
        )
    if not (isinstance(init, Call) and isinstance(init.target, Zeros)):
        ctx.refuse(
            init,
            "a result that a loop fills must start as tf.zeros(...)",
            remedy="an update in place of a parameter is not compiled yet",
        )
    found = _inserts_of(region, carry)
    shape = tensor_type(region.carried_args[carry]).shape
    for loop in {id(loop): loop for _, loops in found for loop in loops if loop.spread is not None}.values():
        inside = [pair for pair in found if any(loop is around for around in pair[1])]
        if not _apart_by(loop, inside):
            name = loop.induction_var.name
            ctx.refuse(
                next((pair[0] for pair in inside if not _apart_by(loop, [pair])), inside[-1][0]).call,
                f"iterations over '{name}' are spread over CTAs and may write the same elements",
                remedy=f"insert at '{name}' along some axis, the same one in all, no more than the loop's step",
            )
    reasons = [why_uncovered(shape, *insert.window, loops) for insert, loops in found]
    if None not in reasons:
        where = f" {reasons[0]}" if reasons else ""
        ctx.refuse(
            region,
            f"cannot prove that the loop writes every element of '{region.carried_args[carry].name}'{where}",
            remedy="walk each axis from 0 to its extent in steps of the window that is inserted; let a loop that walks "
            "no axis run at least once, by a DimVar that starts at 1",
        )
