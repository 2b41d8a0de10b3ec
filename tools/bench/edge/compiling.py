"""The compile of the attention kernel, step by step: what a build log says of it."""

from __future__ import annotations

import re
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

from examples.attention.program import attention_module
from tilefoundry import DumpFlags, DumpScope, compile
from tilefoundry.target import Target

_STEP = re.compile(r"^(?:(pass '.*')|(.*): status 0,)[: ]*(\d+\.\d+) s$", re.MULTILINE)


@dataclass(frozen=True)
class Compile:
    """One compile from a program to a callable module.

    Attributes:
        seconds: from first to last.
        processor: seconds of processor time that the compilers took, on all cores.
        steps: (what, seconds): passes one after the other, then commands, of which some ran side by side.
    """

    seconds: float
    processor: float
    steps: tuple[tuple[str, float], ...]


def compile_attention(target: Target) -> Compile:
    """Compiles attention (bf16, head dimension 64), without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = _processor(), time.perf_counter()
        module = attention_module(64, "bf16")
        with DumpScope(folder, DumpFlags.LOGS) as scope:
            compile(module, target)
        seconds, processor = time.perf_counter() - began, _processor() - before
        (dumped,) = scope.folders
        return Compile(seconds, processor, tuple(_steps((dumped / "build.log").read_text())))


def _steps(log: str) -> Iterator[tuple[str, float]]:
    passes = 0.0
    for a_pass, command, seconds in _STEP.findall(log):
        if a_pass:
            passes += float(seconds)
        else:
            yield command, float(seconds)
    yield "all passes", passes


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shares(found: Compile) -> str:
    """A line for each step, longest first."""
    steps = sorted(found.steps, key=lambda step: -step[1])
    return "\n".join(f"  {what:42} {s:6.2f} s {100 * s / found.seconds:4.0f} %" for what, s in steps)
