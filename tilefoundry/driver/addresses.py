"""Programs at fixed addresses: what a compiler orders by address comes out the same each time."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# linux/personality.h
_QUERY = 0xFFFFFFFF
_ADDR_NO_RANDOMIZE = 0x0040000


@contextmanager
def fixed_addresses() -> Iterator[None]:
    """What this thread starts meanwhile runs without address space randomisation, where the system allows that.

    Linux keeps the setting for each thread, and a started program takes over that of the thread. Some containers refuse
    it; a program is then as random as it would be.
    """
    personality = ctypes.CDLL(None).personality
    before = personality(_QUERY)
    personality(before | _ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        personality(before)
