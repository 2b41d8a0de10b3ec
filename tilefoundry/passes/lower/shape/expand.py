"""Expand: in registers and tiles, elements are copied to where they repeat; a global tensor is read repeatedly."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import Expand
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import call_hint, joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import fresh_type, repeated
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Ramp, Reshaped, Uniform, Value, Window


@lowers(Expand)
def lower_expand(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    value = whole(ctx, x) or ctx.lower(x)
    to, own = tensor_type(call), tensor_type(x)
    new = to.rank - own.rank
    match value:
        case Uniform():
            return value
        case Deferred() if is_unplaced(call):
            return deferred(call)
        case Expr() if not tensor_type(value).shape:  # the number that every element is
            return joined(ctx, call, value)
        case Ramp(axis) if own.shape[axis] == to.shape[axis + new]:
            return value.along(axis + new)
        case Join() | Chosen() | Reshaped() if is_unplaced(call):
            return deferred(call)
        case Window():
            kept = tuple(k - new if k >= new and own.shape[k - new] == e else None for k, e in enumerate(to.shape))
            return repeated(ctx, value, to.shape, kept)
        case Var() if tensor_type(value).storage is StorageKind.RMEM:
            dst = ctx.result(call, "expanded")
            ctx.emit(tir.Copy(), ctx.broadcast(x, value, to), dst)
            return dst
        case Var() if tensor_type(value).storage is StorageKind.SMEM:
            dst = ctx.alloc(call_hint(call), fresh_type(to))
            ctx.emit(tir.WholeCopy(), _repeating(ctx, value, to), dst)
            return dst
    ctx.refuse(
        call,
        f"cannot compile tf.expand of {ctx.describe(value)}",
        remedy="expand a value in registers: tf.reshard(x, <layout over the thread mesh>, 'rmem') before it",
    )


@computes_tiles(Expand)
def expand_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    x = tile.matching(p, operand(call))
    return x if tensor_type(x).shape else tile.filled(p, x)


fuses(Expand)


@writes(Expand)
def write_expand(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, ctx.lower(call), out, everywhere)


def _repeating(ctx: Lowering, tile: Var, to: TensorType) -> Var:
    """The tile with the axes that it lacks, of extent 1: along those a copy repeats elements."""
    type_ = tensor_type(tile)
    assert isinstance(type_.layout, Layout) and type_.layout.strides is not None
    new = to.rank - type_.rank
    shape, strides = (1,) * new + type_.shape, (0,) * new + type_.layout.strides
    return ctx.view(tile, TensorType(shape, type_.dtype, Layout(shape, strides), type_.storage))
