"""Reshape: a view of a fragment or a shared tile; of a value that no mesh holds yet, axes of extent 1 come and go."""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.hir import Reshape
from tilefoundry.ir.types import ShapeDim, StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Ramp, Uniform, Value, Window


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
        case Window():
            if (drop := _dropped(value, shape)) is not None:
                return replace(value, drop=drop)
        case Var() if tensor_type(value).storage in (StorageKind.RMEM, StorageKind.SMEM):
            return ctx.view(value, tensor_type(Call(call.target, (value,), metadata=call.metadata)))
    ctx.refuse(
        call,
        f"cannot compile the reshape of {ctx.describe(value)} to {shape}",
        remedy="reshape before tf.reshard, and change nothing but axes of extent 1",
    )


def _dropped(window: Window, shape: tuple[ShapeDim, ...]) -> tuple[int, ...] | None:
    """The axes that a window lacks under a shape that leaves out some of extent 1; None where it asks for more."""
    left = list(shape)
    drop = list(window.drop)
    for axis in window.kept:
        if left and dim_equal(left[0], window.sizes[axis]):
            left.pop(0)
        elif window.sizes[axis] == 1:
            drop.append(axis)
        else:
            return None
    return None if left else tuple(sorted(drop))
