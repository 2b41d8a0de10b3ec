"""MatMul."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import MatMul


def matmul(ctx: EvalContext, op: MatMul, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Batched matrix product.

    With `out_dtype` the operands are widened first: products of f16 or bf16 are exact in f32, and are summed there. So
    are those of 8-bit floats, which torch does not multiply; their sum is rounded once.
    """
    lhs, rhs = ctx.operands(call.args, values)
    if op.out_dtype is not None:
        wide = ctx.dtype(op.out_dtype)
        lhs, rhs = lhs.to(wide), rhs.to(wide)
    if lhs.dtype.is_floating_point and lhs.element_size() == 1:
        return torch.matmul(lhs.float(), rhs.float()).to(lhs.dtype)
    return torch.matmul(lhs, rhs)
