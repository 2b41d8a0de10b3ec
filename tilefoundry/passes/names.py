"""Fresh names for the variables of one kernel."""

from __future__ import annotations


class Names:
    """Gives each hint as it is once, then with a number."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, hint: str) -> str:
        """A name that this kernel does not use yet."""
        name, count = hint, 0
        while name in self._used:
            count += 1
            name = f"{hint}_{count}"
        self._used.add(name)
        return name
