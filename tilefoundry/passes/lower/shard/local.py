"""Local: an instance's own part of a value, in registers that every thread has for itself."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Local, Reshard
from tilefoundry.ir.shard import ShardLayout, per_unit_strides, with_strides
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Local)
def lower_local(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    type_ = tensor_type(x)
    if not type_.shape:
        return ctx.lower(x)  # a number, or a term of one, which each instance has
    if type_.storage is not StorageKind.RMEM:
        assert isinstance(type_.layout, ShardLayout)  # typed
        apart = with_strides(type_.layout, per_unit_strides(type_.layout))
        x = Call(Reshard(apart, StorageKind.RMEM), (x,), metadata=call.metadata)
    part = ctx.fragment(x, call)
    return ctx.view(part, tensor_type(Call(Local(), (part,), metadata=call.metadata)))
