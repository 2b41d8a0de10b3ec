"""Whether this machine has the instruction set that a library was built for."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

# What each level of the x86-64 psABI adds, as Linux names the flags.
_V2 = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_X86_LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


def missing_features(isa: str, machine: str | None = None, flags: frozenset[str] | None = None) -> tuple[str, ...]:
    """What this machine lacks for an instruction set of `CpuTarget.ISAS`; empty when it has it.

    Args:
        isa: the instruction set.
        machine: architecture of the machine; asked from the system when left out.
        flags: feature flags of its CPU; likewise.
    """
    machine = platform.machine() if machine is None else machine
    if isa in _X86_LEVELS:
        if machine != "x86_64":
            return (f"x86-64 (this is {machine})",)
        return tuple(sorted(_X86_LEVELS[isa] - (_cpu_flags() if flags is None else flags)))
    return () if machine == isa else (f"{isa} (this is {machine})",)


@functools.cache
def _cpu_flags() -> frozenset[str]:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return frozenset(line.partition(":")[2].split())
    return frozenset()
