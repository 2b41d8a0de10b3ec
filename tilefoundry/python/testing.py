"""For tests: programs given as text, with the place where a refusal is expected marked in it."""

from __future__ import annotations

import itertools
import linecache
import textwrap

MARK = "§"

PRELUDE = """\
import math
from tilefoundry.python import func, module
from tilefoundry.dsl import *
from tilefoundry.dsl.storage import gmem, rmem, smem
from tilefoundry.target import CpuTarget, CudaTarget
M, N = DimVar("M", 1, 1 << 20), DimVar("N", 1, 1 << 20)
CTA, THREAD = Topology("cta", 4), Topology("thread", 128)
"""

_serial = itertools.count()


def load_program(text: str) -> dict[str, object]:
    """Runs a program text as a module of its own and gives its names; spans count from the text's first line."""
    name = f"<program {next(_serial)}>"
    source = textwrap.dedent(text).lstrip("\n")
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, object] = {"__name__": "program"}
    exec(PRELUDE, scope)
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    return scope


def marked(text: str) -> tuple[str, tuple[int, int] | None]:
    """A text without its mark, and the 1-based line and column where the mark stood."""
    source = textwrap.dedent(text).lstrip("\n")
    before, mark, after = source.partition(MARK)
    if not mark:
        return source, None
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))
