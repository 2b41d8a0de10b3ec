"""Attention."""

from __future__ import annotations

import math

import torch

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.wide import wide
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Attention

_SCORES_AT_ONCE = 1 << 25  # in elements: what bounds the memory of long sequences


def attention(ctx: EvalContext, op: Attention, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """Values, weighed by the softmax of the scaled products of queries and keys."""
    q, k, v, *rest = (x for x in values if isinstance(x, torch.Tensor))
    group = q.shape[1] // k.shape[1]
    keys, weighed = (wide(x).repeat_interleave(group, 1) for x in (k, v))
    scale = op.scale if op.scale is not None else 1 / math.sqrt(q.shape[-1])
    queries, length = q.shape[2], k.shape[2]
    masks = [mask.broadcast_to(*q.shape[:3], length) for mask in rest]
    if op.causal:
        masks.append(torch.ones(queries, length, dtype=torch.bool, device=q.device).tril(length - queries))
    step = max(1, _SCORES_AT_ONCE // max(1, q.shape[0] * q.shape[1] * length))
    rows = [slice(start, start + step) for start in range(0, max(queries, 1), step)]
    parts = [_attend(wide(q[:, :, r]), scale, keys, weighed, [mask[..., r, :] for mask in masks]) for r in rows]
    return torch.cat(parts, 2).to(q.dtype)


def _attend(q: torch.Tensor, scale: float, k: torch.Tensor, v: torch.Tensor, masks: list[torch.Tensor]) -> torch.Tensor:
    scores = torch.matmul(q, k.mT) * scale
    for mask in masks:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    none = (scores == -math.inf).all(-1, keepdim=True)  # a softmax over nothing is 0 / 0
    return torch.matmul(torch.softmax(scores, -1).masked_fill(none, 0), v)
