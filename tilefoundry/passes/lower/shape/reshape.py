"""Reshape of a value that no mesh holds: axes of extent 1 come and go."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reshape
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Ramp, Uniform, Value


@lowers(Reshape)
def lower_reshape(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    value = ctx.lower(x)  # type: ignore[arg-type]  # a tensor: not an int
    shape = tensor_type(call).shape
    match value:
        case Uniform():
            return value
        case Ramp():
            long_axes = [axis for axis, extent in enumerate(shape) if extent != 1]
            if len(long_axes) <= 1:
                return value.along(long_axes[0] if long_axes else 0)
    ctx.refuse(
        call,
        f"cannot compile the reshape of {ctx.describe(value)} to {shape}",
        remedy="reshape before tf.reshard, and change nothing but axes of extent 1",
    )
