"""Room for deep programs: a value is lowered when it is asked for, so calls nest as deep as values do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 100_000  # of Python, which lie on the heap: a few thousand ops one after the other


@contextmanager
def room_for_deep_programs() -> Iterator[None]:
    """Raises Python's recursion limit for a while."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
