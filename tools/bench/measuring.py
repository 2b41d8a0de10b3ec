"""Time and peak memory of a piece of work in this process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """The median time in seconds, and the most memory in bytes that was in use beyond what was in use before."""

    seconds: float
    bytes: int

    def __str__(self) -> str:
        return f"{self.seconds * 1e3:9.1f} ms {self.bytes / 2**20:9.1f} MiB"


def costs(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, Cost]:
    """The cost of each; they take turns, so that a busy machine slows all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    memory = dict.fromkeys(works, 0)
    for work in works.values():
        work()  # once, unmeasured: code and files are read then
    for _ in range(repeats):
        for name, work in works.items():
            gc.collect()
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is in use now
            before = _status("VmRSS")
            began = time.perf_counter()
            kept = work()
            seconds[name].append(time.perf_counter() - began)
            memory[name] = max(memory[name], _status("VmHWM") - before)
            del kept
    return {name: Cost(sorted(times)[len(times) // 2], memory[name]) for name, times in seconds.items()}


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")
