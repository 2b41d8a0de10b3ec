"""IndexAdd."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import IndexAdd


def index_add(ctx: EvalContext, op: IndexAdd, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Rows of `src` added to rows of `dst`. Raises EvalValueError for an index out of range."""
    dst, index, src = values
    assert isinstance(dst, torch.Tensor) and isinstance(index, torch.Tensor) and isinstance(src, torch.Tensor)
    require_index("index_add", index, dst.shape[op.dim], op.dim % dst.dim())
    return dst.index_add(op.dim, index, src)
