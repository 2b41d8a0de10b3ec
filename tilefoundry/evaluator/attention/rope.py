"""Rope."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.checks import require_index
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Rope


def rope(ctx: EvalContext, op: Rope, call: Call, values: tuple[Value, ...]) -> tuple[torch.Tensor, ...]:
    """`q` and `k` with the halves of their last axis rotated against each other."""
    q, k, cos_cache, sin_cache, pos_ids = ctx.operands(call.args, values)
    require_index("rope", pos_ids, cos_cache.shape[0], 0)
    rows = pos_ids.reshape(-1).long()
    cos, sin = (wide(cache.index_select(0, rows)).unsqueeze(1) for cache in (cos_cache, sin_cache))
    return tuple(_rotate(x, cos, sin) for x in (q, k))


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    exact = wide(x)
    low, high = exact.chunk(2, -1)
    return (exact * cos + torch.cat((-high, low), -1) * sin).to(x.dtype)
