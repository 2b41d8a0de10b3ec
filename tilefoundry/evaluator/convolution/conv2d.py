"""Conv2d."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalValueError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Conv2d
from tilefoundry.ir.types import TensorType


def conv2d(ctx: EvalContext, op: Conv2d, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The cross-correlation, as torch computes it in the dtype of the operands.

    Raises:
        EvalValueError: the kernel reaches beyond an image whose extents the program leaves open.
    """
    input, weight, *bias = ctx.operands(call.args, values)
    assert isinstance(call.type, TensorType)
    shape = ctx.shape(call.type)
    for axis in (2, 3):
        if shape[axis] < 1:
            raise EvalValueError(
                f"conv2d: the kernel of extent {weight.shape[axis]} does not fit axis {axis} of input, of extent "
                f"{input.shape[axis]}",
                remedy="pad the input, or use a smaller kernel",
            )
    if not input.shape[1] or 0 in shape:  # sums over nothing, and nothing: torch computes neither
        value = input.new_zeros(shape)
        return value + bias[0][:, None, None] if bias else value
    return torch.conv2d(input, weight, bias[0] if bias else None, op.stride, op.padding, op.dilation, op.groups)
