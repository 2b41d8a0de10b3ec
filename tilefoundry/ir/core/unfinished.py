"""What a front end leaves in place of a function that it has not made yet."""

from __future__ import annotations

from tilefoundry.diagnostics import TileFoundryError


class Unfinished:
    """Stands for a function that is no Function yet."""

    def unfinished(self) -> TileFoundryError:
        """What is said to somebody who uses it as one."""
        raise NotImplementedError


def check_finished(value: object) -> None:
    """Refuses what stands for a function that is not made yet, in the words of the front end that will make it."""
    if isinstance(value, Unfinished):
        raise value.unfinished()
