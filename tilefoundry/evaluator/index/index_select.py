"""IndexSelect."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import IndexSelect


def index_select(ctx: EvalContext, op: IndexSelect, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Rows of `x` along `dim`. Raises EvalValueError for an index out of range."""
    x, index = values
    assert isinstance(x, torch.Tensor) and isinstance(index, torch.Tensor)
    require_index("index_select", index, x.shape[op.dim], op.dim % x.dim())
    return x.index_select(op.dim, index)
