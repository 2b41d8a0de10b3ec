"""Who looks on while passes run: nobody, or one observer for the current context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from tilefoundry.ir.core.module import Module


class PassObserver(Protocol):
    """Sees every form of a program. What it raises ends the compile."""

    def started(self, module: Module) -> None:
        """Passes are about to run on `module`."""

    def passed(self, name: str, module: Module, seconds: float) -> None:
        """The pass `name` made `module`, which has been verified, in `seconds`."""

    def failed(self, name: str, error: Exception) -> None:
        """The pass `name`, or the verification of what it made, raised."""


_OBSERVER: ContextVar[PassObserver | None] = ContextVar("tilefoundry pass observer", default=None)


@contextmanager
def observing(observer: PassObserver | None) -> Iterator[None]:
    """Lets `observer` see the passes that run in this context, instead of the one that did."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def observer() -> PassObserver | None:
    """The observer of this context."""
    return _OBSERVER.get()
