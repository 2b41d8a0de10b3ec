"""FullLike: one number; of its operand only the type matters, so that is not lowered."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant
from tilefoundry.ir.hir import FullLike
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.shape.place import fill, number_of
from tilefoundry.passes.lower.values import Uniform, Value


@lowers(FullLike)
def lower_full_like(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, FullLike)
    type_ = tensor_type(call)
    if not type_.shape:
        return Constant(number_of(call.target.value, type_.dtype), TensorType.umat_scalar(type_.dtype))
    if type_.storage is not StorageKind.RMEM:
        return Uniform(call.target.value)
    dst = ctx.result(call, "full")
    fill(ctx, number_of(call.target.value, type_.dtype), dst)
    return dst


fuses(FullLike)
