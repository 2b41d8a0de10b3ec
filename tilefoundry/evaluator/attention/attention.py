"""Attention."""

from __future__ import annotations

import math

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Attention


def attention(ctx: EvalContext, op: Attention, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Values, weighed by the softmax of the scaled products of queries and keys."""
    q, k, v, *rest = (x for x in values if isinstance(x, torch.Tensor))
    group = q.shape[1] // k.shape[1]
    keys, weighed = (wide(x).repeat_interleave(group, 1) for x in (k, v))
    scale = op.scale if op.scale is not None else 1 / math.sqrt(q.shape[-1])
    scores = torch.matmul(wide(q), keys.mT) * scale
    for mask in rest:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    if op.causal:
        queries, length = q.shape[2], k.shape[2]
        seen = torch.ones(queries, length, dtype=torch.bool, device=q.device).tril(length - queries)
        scores = scores.masked_fill(~seen, -math.inf)
    none = (scores == -math.inf).all(-1, keepdim=True)  # a softmax over nothing is 0 / 0
    weights = torch.softmax(scores, -1).masked_fill(none, 0)
    return torch.matmul(weights, weighed).to(q.dtype)
