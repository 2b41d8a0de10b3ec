"""IndexCopy."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.bits import bits, from_bits
from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import IndexCopy


def index_copy(ctx: EvalContext, op: IndexCopy, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Rows of `src` in place of rows of `dst`. Raises EvalValueError for an index out of range."""
    dst, index, src = values
    assert isinstance(dst, torch.Tensor) and isinstance(index, torch.Tensor) and isinstance(src, torch.Tensor)
    require_index("index_copy", index, dst.shape[op.dim], op.dim % dst.dim())
    return from_bits(bits(dst).index_copy(op.dim, index.long(), bits(src)), dst.dtype)
