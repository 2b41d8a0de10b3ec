"""Gather."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.bits import bits, from_bits
from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Gather


def gather(ctx: EvalContext, op: Gather, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Elements of `x` along `dim`. Raises EvalValueError for an index out of range."""
    x, index = values
    assert isinstance(x, torch.Tensor) and isinstance(index, torch.Tensor)
    require_index("gather", index, x.shape[op.dim], op.dim % x.dim())
    return from_bits(bits(x).gather(op.dim, index), x.dtype)
