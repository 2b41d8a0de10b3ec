"""ScatterAdd."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import ScatterAdd


def scatter_add(ctx: EvalContext, op: ScatterAdd, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Elements of `src` added to `dst`. Raises EvalValueError for an index out of range."""
    dst, index, src = values
    assert isinstance(dst, torch.Tensor) and isinstance(index, torch.Tensor) and isinstance(src, torch.Tensor)
    require_index("scatter_add", index, dst.shape[op.dim], op.dim % dst.dim())
    return dst.scatter_add(op.dim, index.long(), src)
