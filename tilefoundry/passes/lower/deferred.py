"""Ops on global tensors of whose value a program places windows: each is computed where it is placed.

``tf.reshard(tf.attention(q, k, v)[b, h, i], (64 @ t.r, 128), "rmem")`` computes one tile of the result, from what
that needs of the operands. The op's rule says how, by primitive ops over windows of the operands, once the layout of
the tile is known; those lower as any others do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import INDEX_TYPE, dim_add
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Reshard, Slice
from tilefoundry.ir.shard import Mesh, ShardLayout, is_per_unit, per_unit_strides, row_major, with_strides
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType, TupleType
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.fragments import Modes, modes_of, spread_over
from tilefoundry.passes.lower.registry import writes
from tilefoundry.passes.lower.values import Deferred, Scalar, Window


@dataclass(frozen=True, slots=True)
class Tile:
    """The window of a result that is computed.

    Attributes:
        part: which result, of an op that has several.
        starts, sizes: for each axis of the result.
        steps: for each axis a number that divides its start, whatever loops run; 0 where the start is 0.
        modes: for each axis how it is spread over the mesh.
    """

    part: int
    starts: tuple[Scalar, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    modes: tuple[Modes, ...]
    mesh: Mesh

    def placed(self, p: Primitives, x: Expr, *axes: Modes) -> Call:
        """``x`` in registers, its axes spread so."""
        return p.call(Reshard(spread_over(self.mesh, *axes), StorageKind.RMEM), x)


Rule = Callable[[Primitives, Call, Tile], Expr]
_RULES: dict[type[Op], Rule] = {}


def computes_tiles(op: type[Op]) -> Callable[[Rule], Rule]:
    """Registers the decorated function as what computes a window of the value of ``op``, in registers.

    Its result has the tile's axes, or some of them flattened, spread by their modes.
    """

    def register(rule: Rule) -> Rule:
        _RULES[op] = rule
        writes(op)(_refuse_unplaced)
        return rule

    return register


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


def sliced(ctx: Lowering, call: Call, value: Deferred, starts: Sequence[Scalar]) -> Deferred:
    """A window of a window."""
    op, begin = call.target, call.args[1]
    assert isinstance(op, Slice) and isinstance(begin, Tuple)
    if any(step != 1 for step in op.strides):
        ctx.refuse(call, f"a window has unit steps, got {op.strides}", remedy="compute neighbours, and select of them")
    moved, sizes, steps, drop = list(value.starts), list(value.sizes), list(value.steps), set(value.drop)
    for k, axis in enumerate(value.kept):
        moved[axis] = dim_add(moved[axis], starts[k])
        sizes[axis] = op.sizes[k]
        steps[axis] = math.gcd(steps[axis], _step(ctx, begin.elements[k]))
        if k in op.drop:
            drop.add(axis)
    return replace(value, starts=tuple(moved), sizes=tuple(sizes), steps=tuple(steps), drop=tuple(sorted(drop)))


def _step(ctx: Lowering, start: Expr | int) -> int:
    """A number that divides a start; 0 for 0."""
    if isinstance(start, int):
        return start
    loop = ctx.loops.get(id(start))
    if loop is None or not isinstance(loop.start, int) or not isinstance(loop.step, int):
        return 1
    return math.gcd(loop.start, loop.step)


def place(ctx: Lowering, at: Call, value: Deferred, to: TensorType) -> Var:
    """Computes the window into registers of the type ``to``."""
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
    tile = Tile(value.part, value.starts, sizes, value.steps, tuple(modes), to.layout.mesh)
    computed = _RULES[type(op)](Primitives(value.call), value.call, tile)
    ctx.uses.include(computed)
    return conform(ctx, ctx.fragment(computed, at), to)


def conform(ctx: Lowering, var: Var, to: TensorType) -> Var:
    """A fragment under a type with the same modes: other axes of extent 1, or strides that the author gave."""
    assert isinstance(to.layout, ShardLayout)
    compact = to
    if not is_per_unit(to.layout) or to.layout.layout.strides != per_unit_strides(to.layout):
        compact = replace(to, layout=with_strides(to.layout, per_unit_strides(to.layout)))
    view = ctx.view(var, compact)
    if compact is to:
        return view
    dst = ctx.alloc(var.name, to)
    ctx.emit(tir.Copy(), view, dst)
    return dst


# ---- windows of operands ----------------------------------------------------------------------------------------


def window(p: Primitives, x: Expr, starts: Sequence[Scalar], sizes: Sequence[ShapeDim], drop: tuple[int, ...]) -> Expr:
    """A box of a global tensor, zero beyond its extents; one that starts before the tensor too."""
    begin = tuple(Constant(s, INDEX_TYPE) if isinstance(s, int) and s < 0 else s for s in starts)
    return p.call(Slice(tuple(sizes), (), drop, ("zero",) * len(begin)), x, Tuple(begin))


def staged(p: Primitives, x: Expr, shape: Sequence[int]) -> Call:
    """A window in shared memory."""
    return p.call(Reshard(row_major(tuple(shape)), StorageKind.SMEM), x)
