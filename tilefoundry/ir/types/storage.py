"""Where the elements of a tensor lie."""

from __future__ import annotations

from enum import IntEnum

from tilefoundry.diagnostics import WrongTypeError, WrongValueError


class StorageKind(IntEnum):
    """A memory. UMAT means "residency undecided" (literals, extents); it must be gone before TIR."""

    HOST = 1
    GMEM = 2
    SMEM = 3
    RMEM = 4
    TMEM = 5
    UMAT = 6

    def __str__(self) -> str:
        return self.name.lower()


def resolve_storage(value: StorageKind | str | None) -> StorageKind | None:
    """A storage kind, given itself or its exact lowercase name; None stays None.

    Raises:
        WrongValueError: no storage kind has this name.
        WrongTypeError: neither a storage kind, a string nor None.
    """
    if value is None or isinstance(value, StorageKind):
        return value
    if isinstance(value, str):
        for kind in StorageKind:
            if str(kind) == value:
                return kind
        raise WrongValueError(f"unknown storage {value!r}", remedy=f"use one of {', '.join(map(str, StorageKind))}")
    raise WrongTypeError(f"storage must be a StorageKind, a string or None, got {value!r}", remedy='write e.g. "smem"')
