"""Programs that a thread starts inside of `fixed_addresses` lie at the same addresses each time."""

from __future__ import annotations

import subprocess
import threading

import pytest

from tilefoundry.driver.addresses import fixed_addresses

NO_RANDOMIZE = 0x0040000


def personality() -> int:
    """That of a program which this thread starts."""
    return int(subprocess.run(["cat", "/proc/self/personality"], capture_output=True, text=True, check=True).stdout, 16)


def stack() -> str:
    """Where such a program has its stack."""
    maps = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True, check=True).stdout
    return next(line.split()[0] for line in maps.splitlines() if line.endswith("[stack]"))


def test_only_what_this_thread_starts_meanwhile_is_fixed() -> None:
    before = personality()
    others: list[int] = []
    with fixed_addresses():
        if personality() == before:
            pytest.skip("this machine lets no program fix its addresses")
        assert personality() == before | NO_RANDOMIZE
        assert stack() == stack()
        other = threading.Thread(target=lambda: others.append(personality()))
        other.start()
        other.join()
    assert personality() == before
    assert len(others) == 1


def test_it_ends_with_an_error_too() -> None:
    before = personality()
    try:
        with fixed_addresses():
            raise RuntimeError
    except RuntimeError:
        pass
    assert personality() == before
