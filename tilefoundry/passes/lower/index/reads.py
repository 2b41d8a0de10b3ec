"""What IndexSelect and Gather share: elements at indices along an axis, from wherever they lie.

Of global tensors the value is a description, until a reshard says where it goes or a result is written from it. Of
shared tiles it is a shared tile. Registers have no run-time index, so fragments are read through shared memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.shard import Partial, ShardLayout
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.apart import apart
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.index.windows import (
    flat,
    in_memory,
    in_registers,
    index_fragment,
    memory_operand,
    of_tile,
    window_args,
)
from tilefoundry.passes.lower.staging import cta_part, staged
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Chosen, Value, Window


def chosen(ctx: Lowering, call: Call, axis: int) -> Value:
    """The value of an op that reads ``x`` at ``index`` along an axis.

    Args:
        axis: of the result and of ``x``, not negative.
    """
    x, index = call.args
    assert isinstance(x, Expr) and isinstance(index, Expr)
    source = in_memory(ctx, x)
    if source is None:
        return _from_registers(ctx, call, x, index, axis)
    value = Chosen(source, memory_operand(ctx, call, "index", index), axis)
    if tensor_type(source.tensor).storage is StorageKind.GMEM:
        return value
    dst = ctx.result(call, "chosen")
    write_chosen(ctx, value, of_tile(dst))
    return dst


def chosen_tile(p: Primitives, call: Call, tile: Tile, axis: int) -> Expr:
    """A tile of the elements: of the source all of the axis, and the window on others."""
    x, index = operand(call, 0), operand(call, 1)
    starts = tuple(0 if k == axis else start for k, start in enumerate(tile.starts))
    sizes = tuple(tensor_type(x).shape[axis] if k == axis else size for k, size in enumerate(tile.sizes))
    own = [axis] if tensor_type(index).rank == 1 else list(range(len(tile.sizes)))
    places = window(p, index, [tile.starts[k] for k in own], [tile.sizes[k] for k in own], ())
    return tile.placed(p, p.call(cast("Op", call.target), window(p, x, starts, sizes, ()), places), *tile.modes)


def write_chosen(ctx: Lowering, value: Chosen, out: Window, *, everywhere: bool = False) -> None:
    """Emits what writes the elements into memory."""
    windows = (value.source, value.index, out)
    ctx.emit(
        tir.Gather(tuple(w.kept for w in windows), everywhere, value.axis),
        *flat(*map(window_args, windows)),
    )


def write_value(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    """Emits what writes the value of an op that reads at indices straight to its result."""
    value = ctx.lower(call)
    assert isinstance(value, Chosen)  # of global tensors
    write_chosen(ctx, value, out, everywhere=everywhere)


def load_chosen(ctx: Lowering, at: Call, value: Chosen, dst: Var) -> None:
    """Emits what each instance reads of the elements into its registers."""
    shape = tensor_type(dst).shape
    if not all(isinstance(extent, int) for extent in shape):
        ctx.refuse(
            at,
            f"a tile has static extents, got ({', '.join(map(format_dim, shape))})",
            remedy="walk the symbolic axis with `for i in tile(extent, step)`: tf.index_select(x, index[i], dim=0)",
        )
    windows = (value.source, value.index)
    ctx.emit(
        tir.Gather((*(w.kept for w in windows), ()), False, value.axis),
        *flat(*map(window_args, windows), in_registers(dst)),
    )


def _from_registers(ctx: Lowering, call: Call, x: Expr, index: Expr, axis: int) -> Value:
    to = tensor_type(call)
    if isinstance(to.layout, ShardLayout) and any(isinstance(attr, Partial) for attr in to.layout.attrs):
        ctx.refuse(
            call,
            f"axis {axis} of 'x' is spread over instances, each of which would read what it holds",
            remedy="tf.reshard 'x' first, so that each instance holds the whole axis, or stage it in 'smem'",
        )
    fragment = ctx.fragment(x, call)
    indices = _along(ctx, call, index_fragment(ctx, call, index, tensor_type(fragment)), axis)
    own = ctx.own.of(x)
    lifted = apart(ctx, call, fragment, own)
    axis += tensor_type(lifted).rank - tensor_type(fragment).rank
    tile = staged(ctx, call, lifted)
    dst = ctx.result(call, "chosen")
    each = [apart(ctx, call, x, own) for x in (indices, dst)]
    seen = [ctx.view(x, cta_part(tensor_type(x))) for x in each]
    source = of_tile(tile)
    ctx.emit(
        tir.Gather((source.kept, (), ()), False, axis),
        *flat(window_args(source), *map(in_registers, seen)),
    )
    return dst


def _along(ctx: Lowering, call: Call, index: Var, axis: int) -> Var:
    """The index fragment, seen with an index for each element of the result."""
    to = tensor_type(call)
    if len(tensor_type(index).shape) != to.rank:
        shape = tuple(to.shape[axis] if k == axis else 1 for k in range(to.rank))
        index = ctx.view(index, tensor_type(Call(Reshape(shape), (index,), metadata=call.metadata)))
    return ctx.broadcast(call, index, replace(to, dtype=tensor_type(index).dtype))
