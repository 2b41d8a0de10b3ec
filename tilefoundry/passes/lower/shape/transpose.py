"""Transpose: of a tile or a fragment the same memory with its strides permuted, of a global tensor a view of it."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import Transpose
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.shard import ComposedLayout, Layout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.registry import fuses, lowers, writes
from tilefoundry.passes.lower.shape.join import joined, write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import permuted
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Chosen, Deferred, Join, Ramp, Reshaped, Uniform, Value, Window
from tilefoundry.passes.operands import transposed


@lowers(Transpose)
def lower_transpose(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Transpose)
    (x,) = call.args
    assert isinstance(x, Expr)
    perm = tuple(normalize_axis(axis, tensor_type(x).rank) for axis in call.target.perm)
    value = whole(ctx, x) or ctx.lower(x)
    match value:
        case Uniform():
            return value
        case Expr() if perm and not tensor_type(value).shape:  # the number that every element is
            return joined(ctx, call, value)
        case Ramp(axis):
            return value.along(perm.index(axis))
        case Window():
            return permuted(ctx, value, perm)
        case Deferred() | Join() | Chosen() | Reshaped() if is_unplaced(call):
            return deferred(call)
        case Var() if tensor_type(value).storage is StorageKind.RMEM:
            return ctx.view(value, tensor_type(Call(call.target, (value,), metadata=call.metadata)))
        case Var() if tensor_type(value).storage is StorageKind.SMEM:
            type_ = tensor_type(value)
            assert isinstance(type_.layout, (Layout, ComposedLayout))  # shared tiles belong to the whole CTA
            shape = tuple(type_.shape[axis] for axis in perm)
            return ctx.view(value, TensorType(shape, type_.dtype, transposed(type_.layout, perm), type_.storage))
    ctx.refuse(
        call,
        f"cannot compile tf.transpose of {ctx.describe(value)}",
        remedy="place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
    )


@computes_tiles(Transpose)
def transpose_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    assert isinstance(call.target, Transpose)
    perm = tuple(normalize_axis(axis, len(tile.sizes)) for axis in call.target.perm)
    starts, sizes, modes = zip(*(tile.axis(perm.index(k)) for k in range(len(perm))), strict=True)
    return p.call(Transpose(perm), tile.placed(p, window(p, operand(call), starts, sizes, ()), *modes))


fuses(Transpose)


@writes(Transpose)
def write_transpose(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, ctx.lower(call), out, everywhere)
