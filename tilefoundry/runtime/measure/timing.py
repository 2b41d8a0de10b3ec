"""How long calls take, several of them in turns: what slows the machine for a while slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

_WARM_UP = 3  # calls before anything is measured: caches fill, clocks rise, code is loaded
_LONGEST_BATCH = 1000  # calls


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, of each round; a round is a batch of calls, one right after the other.

    Attributes:
        rounds: one mean per round, in the order in which they ran.
    """

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Half of the rounds took longer."""
        return sorted(self.rounds)[len(self.rounds) // 2]

    @property
    def best(self) -> float:
        """Of the fastest round."""
        return min(self.rounds)


def time_in_turns(
    works: Sequence[Callable[[], object]], *, on_cuda: bool, rounds: int = 15, batch_seconds: float = 2e-3
) -> list[Timing]:
    """Times calls that take turns.

    Args:
        works: what to call. Inputs that fit into a cache are found there, as in calls that follow each other.
        on_cuda: measure by events on torch's current stream; else by the clock of the host.
        rounds: turns of each.
        batch_seconds: how long a batch shall take at the least.
    """
    measure = _cuda_seconds if on_cuda else _host_seconds
    counts = []
    for work in works:
        once = measure(work, _WARM_UP) / _WARM_UP
        once = measure(work, 1) if once < batch_seconds else once
        counts.append(max(1, min(_LONGEST_BATCH, round(batch_seconds / max(once, 1e-9)))))
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, count, taken in zip(works, counts, seconds, strict=True):
            taken.append(measure(work, count) / count)
    return [Timing(tuple(taken)) for taken in seconds]


def _host_seconds(work: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        work()
    return time.perf_counter() - began


def _cuda_seconds(work: Callable[[], object], count: int) -> float:
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    began.record()
    for _ in range(count):
        work()
    ended.record()
    ended.synchronize()
    return float(began.elapsed_time(ended)) * 1e-3
