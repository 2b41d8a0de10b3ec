"""Expand: what lies nowhere yet is the same; in registers, elements are copied to where they are repeated."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import Expand
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Ramp, Uniform, Value


@lowers(Expand)
def lower_expand(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    value = ctx.lower(x)
    match value:
        case Uniform():
            return value
        case Ramp():
            return value.along(value.axis + tensor_type(call).rank - tensor_type(x).rank)
        case Var() if tensor_type(value).storage is StorageKind.RMEM:
            dst = ctx.result(call, "expanded")
            ctx.emit(tir.Copy(), ctx.broadcast(x, value, tensor_type(call)), dst)
            return dst
    ctx.refuse(
        call,
        f"cannot compile tf.expand of {ctx.describe(value)}",
        remedy="expand a value in registers: tf.reshard(x, <layout over the thread mesh>, 'rmem') before it",
    )
