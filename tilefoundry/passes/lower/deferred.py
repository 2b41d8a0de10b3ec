"""Ops on global tensors of whose value a program places windows: each is computed where it is placed.

``tf.reshard(tf.attention(q, k, v)[b, h, i], (64 @ t.r, 128), "rmem")`` computes one tile of the result, from what
that needs of the operands. The op's rule says how, by primitive ops over windows of the operands, once the layout of
the tile is known; those lower as any others do. An operand may be such a value itself: then nothing of it goes to
memory. The same window under the same layout is computed once, before the loops that have no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import (
    INDEX_TYPE,
    DimAdd,
    DimFloorDiv,
    DimMod,
    DimMul,
    DimSub,
    dim_add,
    dim_equal,
    dim_min,
    dim_product,
)
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import BinaryKind, Slice
from tilefoundry.ir.shard import Mesh, ShardLayout, is_per_unit, per_unit_strides, with_strides
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType, TupleType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.fragments import Modes, modes_of, spread_over
from tilefoundry.passes.lower.registry import writes_unless_others
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Deferred, Scalar, Window
from tilefoundry.passes.modes import broadcast_type

Rule = Callable[[Primitives, Call, Tile], Expr]
_RULES: dict[type[Op], Rule] = {}
_BY_ELEMENTS = ("elementwise", "shape", "create", "shard")  # ops that a unit computes of one element alone


def computes_tiles(op: type[Op]) -> Callable[[Rule], Rule]:
    """Registers the decorated function as what computes a window of the value of ``op``, in registers.

    Its result has the tile's axes, or some of them flattened, spread by their modes.
    """

    def register(rule: Rule) -> Rule:
        _RULES[op] = rule
        writes_unless_others(op, _refuse_unplaced)
        return rule

    return register


def has_tiles(op: type[Op]) -> bool:
    """Whether windows of the value of calls to ``op`` can be computed in registers."""
    return op in _RULES


def _refuse_unplaced(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> NoReturn:
    """What would write a value to global memory of which no window has been placed."""
    assert isinstance(call.target, Op)
    ctx.refuse(
        call,
        f"the value of tf.{call.target.op_name} is written to global memory before it is placed: a kernel computes "
        "windows of it, in registers",
        remedy="walk it in tiles, and insert each: tf.insert_slice(out, tf.reshard(y[b, h, i], <layout over the thread "
        "mesh>, 'rmem'), (b, h, i, 0))",
    )


def deferred(call: Call, part: int = 0) -> Deferred:
    """The whole value of a call."""
    type_ = call.type.fields[part] if isinstance(call.type, TupleType) else call.type
    assert isinstance(type_, TensorType)
    return Deferred(call, part, (0,) * type_.rank, type_.shape, (0,) * type_.rank)


def computed_anywhere(ctx: Lowering, x: Expr) -> Deferred | None:
    """The whole value of a call of which windows can be computed, however it was lowered; None for others."""
    call = ctx.expanded(x)
    return deferred(call) if isinstance(call, Call) and type(call.target) in _RULES else None


def is_unplaced(call: Call) -> bool:
    """Whether a tensor of an op lies in no registers, so that windows of it are placed.

    What a program has of shared tiles becomes a tile as well, by such windows (``Lowering.lower``).
    """
    type_ = tensor_type(call)
    return type_.storage is not StorageKind.RMEM and type_.rank > 0


def sliced(ctx: Lowering, call: Call, value: Deferred, starts: Sequence[Scalar]) -> Deferred:
    """A window of a window."""
    op, begin = call.target, call.args[1]
    assert isinstance(op, Slice) and isinstance(begin, Tuple)
    if any(step != 1 for step in op.strides):
        ctx.refuse(call, f"a window has unit steps, got {op.strides}", remedy="compute neighbours, and select of them")
    moved, sizes, steps, drop = list(value.starts), list(value.sizes), list(value.steps), set(value.drop)
    ends = list(value.ends or (None,) * len(sizes))
    for k, axis in enumerate(value.kept):
        moved[axis] = dim_add(moved[axis], starts[k])
        sizes[axis] = op.sizes[k]
        steps[axis] = math.gcd(steps[axis], step_of(ctx, begin.elements[k]))
        if op.boundary[k] == "zero" and ctx.uses.is_authored(call):
            ends[axis] = _end(ctx, value, axis, begin.elements[k], op.sizes[k])
        if k in op.drop:
            drop.add(axis)
    return replace(
        value,
        starts=tuple(moved),
        sizes=tuple(sizes),
        steps=tuple(steps),
        drop=tuple(sorted(drop)),
        ends=tuple(ends),
    )


def _end(ctx: Lowering, value: Deferred, axis: int, start: Expr | int, size: ShapeDim) -> ShapeDim | None:
    """Where the window that a part is taken of ends, if the part may go on; what its author wrote reads zero there."""
    from tilefoundry.passes.lower.shape.slice import stays_inside

    before = value.ends[axis] if value.ends else None
    if stays_inside(ctx, start, size, value.sizes[axis]):
        return before
    end = dim_add(value.starts[axis], value.sizes[axis])
    return end if before is None else dim_min(before, end)


def step_of(ctx: Lowering, start: Expr | int) -> int:
    """A number that divides a start; 0 for 0."""
    match start:
        case int():
            return start
        case Constant(value=int() as value):
            return value
        case Call(target=DimMul(), args=(lhs, rhs)):
            return step_of(ctx, lhs) * step_of(ctx, rhs)
        case Call(target=DimAdd() | DimSub() | DimMod(), args=(lhs, rhs)):
            return math.gcd(step_of(ctx, lhs), step_of(ctx, rhs))
        case Call(target=DimFloorDiv(), args=(lhs, int() as rhs)) if step_of(ctx, lhs) % rhs == 0:
            return step_of(ctx, lhs) // rhs
    loop = ctx.loops.get(id(start))
    if loop is None or not isinstance(loop.start, int) or not isinstance(loop.step, int):
        return 1
    return math.gcd(loop.start, loop.step)


def place(ctx: Lowering, at: Call, value: Deferred, to: TensorType) -> Var | Expr:
    """Computes the window into registers of the type ``to``; of rank 0, a scalar."""
    key = (value, to)
    if (known := ctx.placed(key)) is not None:
        assert isinstance(known, Expr)
        return known
    if ctx.own.of(value.call):
        _check_exchanges(ctx, at, value.call)
    with ctx.before_loops(value.call, *value.starts):
        placed = _compute(ctx, at, value, to)
        ctx.remember_placed(key, placed)
    return placed


def _check_exchanges(ctx: Lowering, at: Call, value: Expr) -> None:
    """Refuses what threads would compute together of elements on which they differ, by coordinates in a formula."""
    for node in post_order(value):
        if not isinstance(node, Call) or not isinstance(node.target, Op) or node.target.category in _BY_ELEMENTS:
            continue
        leaf = node.type.fields[0] if isinstance(node.type, TupleType) else node.type
        held = isinstance(leaf, TensorType) and leaf.storage in (StorageKind.RMEM, StorageKind.SMEM)
        if not held and any(ctx.own.of(arg) for arg in node.args):
            ctx.refuse(
                at,
                f"threads compute tf.{node.target.op_name} together where it is placed, and its operand depends on a "
                "coordinate of theirs",
                remedy="place the operand first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
            )


def _compute(ctx: Lowering, at: Call, value: Deferred, to: TensorType) -> Var | Expr:
    op = value.call.target
    assert isinstance(op, Op)
    name = f"tf.{op.op_name}"
    assert isinstance(to.layout, ShardLayout)
    if not all(isinstance(size, int) for size in value.sizes):
        ctx.refuse(
            at,
            f"a tile has static extents, got ({', '.join(map(format_dim, value.sizes))}) of {name}",
            remedy="walk the symbolic axis with `for i in tile(extent, step)` and index the result by i",
        )
    axes = modes_of(to)
    if axes is None:
        ctx.refuse(
            at,
            f"a tile of {name} cannot be computed as {to.layout}",
            remedy="write the factors of each axis one after the other, each split by one mesh axis at most",
        )
    modes: list[Modes] = [()] * len(value.sizes)
    for axis, own in zip(value.kept, axes, strict=True):
        modes[axis] = own
    sizes = tuple(size for size in value.sizes if isinstance(size, int))
    rows = ctx.rows.setdefault(to.layout.mesh, {})
    for start, extent, size, own in zip(
        value.starts, deferred(value.call, value.part).sizes, sizes, modes, strict=True
    ):
        if isinstance(extent, int) and start == 0 and 1 < extent <= size:
            rows[extent] = own
    tile = Tile(value.part, value.starts, sizes, value.steps, tuple(modes), to.layout.mesh, rows, ctx.several)
    p = Primitives(value.call)
    computed = _RULES[type(op)](p, value.call, tile)
    if not to.shape and tensor_type(computed).shape:
        computed = p.reshape(computed, ())
    ctx.uses.include(computed)
    if not to.shape:
        scalar = ctx.scalar(computed)
        assert isinstance(scalar, Expr)
        return ctx.named("number", scalar)
    whole = TensorType(sizes, to.dtype, spread_over(tile.mesh, *modes), StorageKind.RMEM)
    result = _of_tile(ctx, at, ctx.fragment(computed, at), whole)
    if any(end is not None for end in value.ends) and not ctx.uses.only_inserted(at):
        result = _zero_beyond(ctx, ctx.view(result, whole), tile, value.ends)
    return conform(ctx, result, to)


def _zero_beyond(ctx: Lowering, var: Var, tile: Tile, ends: Sequence[ShapeDim | None]) -> Var:
    """The tile, with zeros from the ends on."""
    type_ = tensor_type(var)
    place, inside = (ctx.alloc(n, replace(type_, dtype=d)) for n, d in (("place", DType.i64), ("inside", DType.bool)))
    zero = Constant(False if type_.dtype is DType.bool else 0, TensorType.umat_scalar(type_.dtype))
    for axis, end in enumerate(ends):
        if end is None:
            continue
        ctx.emit(tir.Iota(axis, 1), tile.starts[axis], place)
        ctx.emit(tir.Binary(BinaryKind.LT), place, Constant(end, INDEX_TYPE) if isinstance(end, int) else end, inside)
        result = ctx.alloc(var.name, type_)
        ctx.emit(tir.Where(), inside, var, zero, result)
        var = result
    return var


def _of_tile(ctx: Lowering, at: Call, var: Var, to: TensorType) -> Var:
    """A fragment with the factors of ``to`` one after the other, in registers without gaps.

    Its elements may have repeated along axes of extent 1.
    """
    type_ = tensor_type(var)
    assert isinstance(type_.layout, ShardLayout)
    if _factors(type_) == _factors(to):
        dense = replace(type_, layout=with_strides(type_.layout, per_unit_strides(type_.layout)))
        return var if dense == type_ else _copied(ctx, var, var, dense)
    if dim_equal(dim_product(type_.shape), dim_product(to.shape)):  # nothing repeats: the same elements, in order
        elements = broadcast_type(_in_a_row(type_), _in_a_row(to))
        if elements is not None:
            return _copied(ctx, var, ctx.view(var, replace(elements, shape=to.shape)), to)
    return _copied(ctx, var, ctx.broadcast(at, var, to), to)


def _in_a_row(fragment: TensorType) -> TensorType:
    """A fragment with its elements along one axis."""
    return replace(fragment, shape=(dim_product(fragment.shape),))


def _copied(ctx: Lowering, var: Var, seen: Var, to: TensorType) -> Var:
    dst = ctx.alloc(var.name, to)
    ctx.emit(tir.Copy(), seen, dst)
    return dst


def _factors(type_: TensorType) -> tuple[Mesh, Modes] | None:
    """The factors of a fragment one after the other, whatever axes they are of."""
    assert isinstance(type_.layout, ShardLayout)
    axes = modes_of(type_)
    return None if axes is None else (type_.layout.mesh, tuple(mode for modes in axes for mode in modes))


def conform(ctx: Lowering, var: Var, to: TensorType) -> Var:
    """A fragment under a type with the same modes: other axes of extent 1, or strides that the author gave."""
    assert isinstance(to.layout, ShardLayout)
    compact = to
    if not is_per_unit(to.layout) or to.layout.layout.strides != per_unit_strides(to.layout):
        compact = replace(to, layout=with_strides(to.layout, per_unit_strides(to.layout)))
    view = ctx.view(var, compact)
    return view if compact is to else _copied(ctx, var, view, to)
