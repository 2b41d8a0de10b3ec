"""How far a long run is, on a terminal."""

from __future__ import annotations

import sys
import time

_REFRESH_SECONDS = 0.2


class Progress:
    """One line on standard error that counts tensors and bytes; silent where that is no terminal.

    Args:
        tensors: how many there are.
        size: their size in bytes.
    """

    def __init__(self, tensors: int, size: int) -> None:
        self._tensors, self._size = tensors, size
        self._done, self._bytes = 0, 0
        self._shown = 0.0
        self._enabled = sys.stderr.isatty()

    def advance(self, size: int) -> None:
        """Counts one more tensor of `size` bytes."""
        self._done, self._bytes = self._done + 1, self._bytes + size
        now = time.monotonic()
        if self._enabled and (now - self._shown >= _REFRESH_SECONDS or self._done == self._tensors):
            self._shown = now
            print(
                f"\rprepare: {self._done}/{self._tensors} tensors, {self._bytes / 1e9:.2f}/{self._size / 1e9:.2f} GB",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        """Ends the line."""
        if self._enabled and self._done:
            print(file=sys.stderr)
