"""RuntimeFunction: the base of a kernel that somebody writes by hand (runtime spec, 1.1.1)."""

from __future__ import annotations

from tilefoundry.runtime.abi import EntryABI


class RuntimeFunction:
    """A function body: subclass it, take what the kernel needs in ``__init__``, and override ``__call__``.

    Args:
        type: the ABI, usually ``entry_abi_of(function)``.
    """

    def __init__(self, type: EntryABI) -> None:  # the spec names the field
        self.type = type

    def __call__(self, *acts: object) -> object:
        """Runs the kernel on positional activations and returns its value.

        Raises:
            NotImplementedError: the subclass does not say how.
        """
        raise NotImplementedError(f"runtime function '{self.type.name}' defines no __call__()")
