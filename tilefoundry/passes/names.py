"""Fresh names for the variables of one kernel."""

from __future__ import annotations

from collections.abc import Iterable

from tilefoundry.ir import tir


class Names:
    """Gives each hint as it is once, then with a number."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)

    @classmethod
    def of(cls, kernel: tir.PrimFunction) -> Names:
        """The names that a kernel leaves free."""
        bound = (
            item.var.name
            for item in tir.items_within(tir.unfold(kernel.body))
            if isinstance(item, (tir.Binding, tir.For))
        )
        return cls((*(param.name for param in kernel.params), *bound))

    def fresh(self, hint: str) -> str:
        """A name that this kernel does not use yet."""
        name, count = hint, 0
        while name in self._used:
            count += 1
            name = f"{hint}_{count}"
        self._used.add(name)
        return name
