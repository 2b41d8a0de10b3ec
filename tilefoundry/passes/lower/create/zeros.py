"""Zeros: one number, until a reshard or a loop over an output says where."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant
from tilefoundry.ir.hir import Zeros
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.shape.place import number_of
from tilefoundry.passes.lower.values import Uniform, Value


@lowers(Zeros)
def lower_zeros(ctx: Lowering, call: Call) -> Value:
    type_ = tensor_type(call)
    return Uniform(0) if type_.shape else Constant(number_of(0, type_.dtype), TensorType.umat_scalar(type_.dtype))
