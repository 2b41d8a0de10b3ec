"""Loops: a carried fragment becomes a tensor that the body overwrites; a carried global tensor is the output itself.

Loops that are spread over a mesh axis and nest perfectly become one grid-stride loop over a linear tile index, which is
right for a grid smaller than, equal to or larger than the number of tiles.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, ceildiv, dim_add, dim_floordiv, dim_mod, dim_mul, dim_sub
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.shard import Layout, MeshAxis, flat_modes
from tilefoundry.ir.tir import Copy, For, Index, ProgramDim, ProgramId, fold
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, is_scalar, tensor_type
from tilefoundry.passes.lower.empty import EMPTY, is_empty
from tilefoundry.passes.lower.outputs import Destinations, destine_carry, order_iterations, store_carry
from tilefoundry.passes.lower.shard.mesh_coordinate import coordinates_in
from tilefoundry.passes.lower.values import Carry, Uniform

if TYPE_CHECKING:
    from tilefoundry.passes.lower.values import Scalar


def lower_loop(ctx: Lowering, region: GridRegionExpr, destinations: Destinations | None = None) -> tuple[Carry, ...]:
    """Emits the loop and gives its carried values.

    Args:
        destinations: for carries that are global tensors, the outputs that hold them.
    """
    destinations = destinations or {}
    for axis in (*coordinates_in(region.start), *coordinates_in(region.extent)):
        ctx.refuse(
            region,
            f"a bound of the loop depends on the coordinate along '{axis.name}': instances would meet at no barrier",
            remedy="let all instances run as often, and select by tf.where; or spread the loop over the mesh axis",
        )
    ctx.loops[id(region.induction_var)] = region
    if region.spread is not None:
        return _lower_spread(ctx, region, destinations)
    carries = tuple(_open_carry(ctx, region, k, destinations) for k in range(len(region.carried_args)))
    _lower_invariants(ctx, region)
    start, extent = ctx.scalar(region.start), ctx.scalar(region.extent)
    induction = Var(ctx.names.fresh(region.induction_var.name), INDEX_TYPE)
    with ctx.block() as items:
        ctx.remember(region.induction_var, induction)
        ctx.remember(induction, induction)
        ctx.loops[id(induction)] = region
        _lower_body(ctx, region, carries)
    ctx.items.append(For(induction, start, extent, region.step, fold(items)))
    return carries


def _open_carry(ctx: Lowering, region: GridRegionExpr, k: int, destinations: Destinations) -> Carry:
    arg, init = region.carried_args[k], region.init_args[k]
    if is_empty(arg):
        return EMPTY
    if not tensor_type(arg).shape:
        carry = ctx.alloc(arg.name, TensorType((), tensor_type(arg).dtype, None, StorageKind.RMEM))
        ctx.emit(Copy(), ctx.named(arg.name, ctx.scalar(init)), carry)
        return carry
    if tensor_type(arg).storage is StorageKind.GMEM:
        if k not in destinations:
            ctx.refuse(
                init,
                f"the loop carries the global tensor '{arg.name}', which is not a result of the function",
                remedy="return it, or carry a tile in registers",
            )
        return destinations[k]
    carry = ctx.alloc(arg.name, tensor_type(arg))
    ctx.emit(Copy(), ctx.fragment(init), carry)
    return carry


def _lower_body(ctx: Lowering, region: GridRegionExpr, carries: tuple[Carry, ...]) -> None:
    for arg, carry in zip(region.carried_args, carries, strict=True):
        ctx.remember(arg, carry)
    values = [
        (arg, carry, value)
        for arg, carry, value in zip(region.carried_args, carries, region.yield_values, strict=True)
        if not isinstance(carry, Uniform)
    ]
    filled = [(value, arg, carry) for arg, carry, value in values if _is_filled(arg)]
    # a loop inside may carry several of these, and registers besides
    for value, arg, carry in filled:
        destine_carry(ctx, value, arg, carry)
    for value, arg, carry in filled:
        order_iterations(ctx, region, region.carried_args.index(arg))
        store_carry(ctx, value, arg, carry)
    updates: list[tuple[Var, Var]] = []
    for arg, carry, value in values:
        if not tensor_type(arg).shape:
            updates.append((ctx.named(arg.name, ctx.scalar(value)), carry))
        elif not _is_filled(arg):
            updates.append((ctx.fragment(value), carry))
    # all new values are known before the first carry changes; one that is a carry, or a view of one, is saved first
    for i, (value, carry) in enumerate(updates):
        if ctx.seen_in(value) in carries and value is not carry:
            saved = ctx.alloc(value.name, tensor_type(value))
            ctx.emit(Copy(), value, saved)
            updates[i] = (saved, carry)
    for value, carry in updates:
        if value is not carry:
            ctx.emit(Copy(), value, carry)


def _is_filled(arg: Var) -> bool:
    """Whether a loop writes what it carries to global memory."""
    return bool(tensor_type(arg).shape) and tensor_type(arg).storage is StorageKind.GMEM


def _lower_invariants(ctx: Lowering, *regions: GridRegionExpr) -> None:
    """Lowers, before the loops open, every tensor of the innermost body that depends on none of them.

    What a loop inside the body binds is reached through that loop only, so it is known to be bound when it is met.
    """
    bound = {id(v) for region in regions for v in (region.induction_var, *region.carried_args)}
    seen: set[int] = set()

    def visit(node: Expr | int) -> None:
        if not isinstance(node, Expr) or id(node) in seen or isinstance(node, Var):
            return
        seen.add(id(node))
        if isinstance(node, Call) and not is_scalar(node) and not bound & ctx.reach.of(node):
            ctx.lower(node)
            return
        match node:
            case Call(args=args):
                children: tuple[Expr | int, ...] = args
            case Tuple(elements=elements):
                children = elements
            case GridRegionExpr():
                bound.update(id(v) for v in (node.induction_var, *node.carried_args))
                children = (*node.init_args, *node.yield_values)
            case _:
                children = ()
        for child in children:
            visit(child)

    for value in regions[-1].yield_values:
        visit(value)


# ---- spread loops -----------------------------------------------------------------------------------------------


def _lower_spread(ctx: Lowering, region: GridRegionExpr, destinations: Destinations) -> tuple[Carry, ...]:
    nest = _perfect_nest(ctx, region)
    carries = tuple(_open_carry(ctx, region, k, destinations) for k in range(len(region.carried_args)))
    axis = region.spread
    assert axis is not None  # the caller dispatched on it
    _lower_invariants(ctx, *nest)
    tiles = [_tile_count(loop) for loop in nest]
    total = tiles[0]
    for count in tiles[1:]:
        total = dim_mul(total, count)
    first, stride = _coordinate(ctx, region, axis)
    n = Var(ctx.names.fresh("tile"), INDEX_TYPE)
    with ctx.block() as items:
        rest: Scalar = n
        for depth in reversed(range(len(nest))):
            loop, last = nest[depth], depth == 0
            index = rest if last else dim_mod(rest, tiles[depth])
            rest = rest if last else dim_floordiv(rest, tiles[depth])
            value = dim_add(loop.start, dim_mul(index, loop.step))
            place = ctx.bind(loop.induction_var.name, Index(), (value,), INDEX_TYPE)
            ctx.remember(loop.induction_var, place)
            ctx.loops[id(place)] = loop
        for outer, inner in pairwise(nest):
            for arg, init in zip(inner.carried_args, inner.init_args, strict=True):
                ctx.remember(arg, carries[outer.carried_args.index(init)])
        _lower_body(ctx, nest[-1], carries)
    ctx.items.append(For(n, first, total, stride, fold(items)))
    return carries


def _perfect_nest(ctx: Lowering, region: GridRegionExpr) -> list[GridRegionExpr]:
    """The loops spread over the same axis, outermost first; the verifier has shown that they nest perfectly."""
    nest = [region]
    while len(nest[-1].yield_values) == 1 and isinstance(inner := nest[-1].yield_values[0], GridRegionExpr):
        if inner.spread != region.spread:
            break
        nest.append(inner)
        ctx.loops[id(inner.induction_var)] = inner
    return nest


def _tile_count(loop: GridRegionExpr) -> Scalar:
    return ceildiv(dim_sub(loop.extent, loop.start), loop.step)


def _coordinate(ctx: Lowering, region: GridRegionExpr, spread: MeshAxis) -> tuple[Scalar, Scalar]:
    """This instance's coordinate along the axis, and the axis' extent."""
    mesh = spread.mesh
    if len(mesh.topologies) != 1:
        ctx.refuse(
            region,
            "a loop can be spread over an axis of a mesh of one topology level only",
            remedy='open a mesh of the ctas alone, with Mesh(("cta",), ...) as c, and spread the loop over its axis',
        )
    level = mesh.topologies[0].name
    if level != "cta":
        ctx.refuse(
            region,
            f"a loop can be spread over CTAs, not over the {level} level",
            remedy="spread it over an axis of the cta mesh, and split the axes of the tile over threads",
        )
    pid = ctx.bind(f"{level}_id", ProgramId(level), (), INDEX_TYPE)
    if mesh.rank == 1:
        return pid, ctx.bind(f"{level}_count", ProgramDim(level), (), INDEX_TYPE)
    assert isinstance(mesh.layout, Layout)  # a scope is a whole mesh
    extent, stride = flat_modes(mesh.layout)[spread.axis]
    return dim_mod(dim_floordiv(pid, stride), extent), extent
