"""Calls are timed in turns, warm, and as often as they are short."""

from __future__ import annotations

import time

from tilefoundry.runtime.measure.timing import Timing, time_in_turns


def test_a_slower_call_takes_longer() -> None:
    quick, slow = time_in_turns((lambda: time.sleep(1e-3), lambda: time.sleep(6e-3)), on_cuda=False, rounds=3)
    assert 1e-3 <= quick.best <= quick.median and slow.best >= 6e-3
    assert quick.best < slow.best and len(quick.rounds) == len(slow.rounds) == 3


def test_they_take_turns_and_short_ones_come_in_batches() -> None:
    calls: list[str] = []

    def short() -> None:
        calls.append("s")

    def long() -> None:
        calls.append("l")
        time.sleep(5e-3)

    time_in_turns((short, long), on_cuda=False, rounds=2)
    order = "".join(calls)
    warm, measured = order[: order.index("l")], order[order.index("l") :].lstrip("l")
    assert 3 <= len(warm) <= 4
    first, second = measured.split("l")[:2]
    assert len(first) == len(second) >= 1 and measured.count("l") == 2


def test_the_median_and_the_best() -> None:
    assert Timing((3.0, 1.0, 2.0)).median == 2.0 and Timing((3.0, 1.0, 2.0)).best == 1.0
    assert time_in_turns((), on_cuda=False) == []
