"""CacheUpdate."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.checks import concrete, require
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import CacheUpdate
from tilefoundry.ir.types import DType


def cache_update(ctx: EvalContext, op: CacheUpdate, call: Call, values: tuple[Value, ...]) -> torch.Tensor:
    """`cache` with ``new[:, :s]`` at positions ``cur_pos`` and on.

    Raises:
        EvalValueError: `s` or ``cur_pos + s`` is out of range.
    """
    cache, new = values[0], values[3]
    assert isinstance(cache, torch.Tensor) and isinstance(new, torch.Tensor)
    cur_pos, s = ctx.tensor(values[1], DType.i64), ctx.tensor(values[2], DType.i64)
    length, given = cache.shape[1], new.shape[1]
    require(
        (s >= 0) & (s <= given),
        f"cache_update: s = {concrete(s).tolist()} is out of range for the {given} positions of axis 1 of new",
        f"use 0 <= s <= {given}",
    )
    require(
        (cur_pos >= 0) & (cur_pos + s <= length),
        f"cache_update: positions from cur_pos = {concrete(cur_pos).tolist()}, s = {concrete(s).tolist()} of them, "
        f"exceed axis 1 of cache, of extent {length}",
        f"use 0 <= cur_pos and cur_pos + s <= {length}, or give a longer cache",
    )
    if not given:
        return cache.clone()
    # a gather and a choice rather than a slice, whose bounds would have to be Python numbers
    position = torch.arange(length, device=cache.device) - cur_pos
    written = (position >= 0) & (position < s)
    source = new.index_select(1, position.clamp(0, given - 1))
    return torch.where(written[:, None, None], source, cache)
