"""Transpose: of a tile or a fragment the same memory with its strides permuted, of a global tensor a view of it."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import Transpose
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.ir.shard import ComposedLayout, Layout
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.shape.join import write_parts
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import permuted
from tilefoundry.passes.lower.values import Ramp, Uniform, Value, Window
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
        case Ramp(axis):
            return value.along(perm.index(axis))
        case Window():
            return permuted(ctx, value, perm)
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


@writes(Transpose)
def write_transpose(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_parts(ctx, call, ctx.lower(call), out, everywhere)
