"""Times of a call: the median over repetitions after a warm-up, by the wall clock or by CUDA events."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

_BUDGET_S = 0.5
_MIN_RUNS, _MAX_RUNS = 3, 200


def median_seconds(call: Callable[[], object], device: torch.device) -> float:
    """Median time of one call in seconds, within a budget of about half a second."""
    once = _cuda_seconds if device.type == "cuda" else _wall_seconds
    for _ in range(2):
        estimate = once(call)
    runs = min(_MAX_RUNS, max(_MIN_RUNS, int(_BUDGET_S / max(estimate, 1e-9))))
    return statistics.median(once(call) for _ in range(runs))


def _wall_seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _cuda_seconds(call: Callable[[], object]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    start.record()
    call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1e3
