"""WgmmaSm90."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.matrix.instruction import product
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import WgmmaSm90


def wgmma_sm90(ctx: EvalContext, op: WgmmaSm90, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """The product of the operands, rounded to their dtypes, in the accumulator's dtype."""
    return product(ctx, ctx.operands(call.args, values), (op.dtype_a, op.dtype_b), op.dtype_acc)
