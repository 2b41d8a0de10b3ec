"""Where a specialised function comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilefoundry.ir.core.metadata import IRMetadata, find_metadata

if TYPE_CHECKING:
    from tilefoundry.ir.core.function import Function
    from tilefoundry.ir.dims import DimVar


@dataclass(frozen=True, slots=True)
class SpecializationMetadata(IRMetadata):
    """What a function was specialised from, and the extents that it was given.

    Attributes:
        origin: the function before this specialisation.
        bound: (DimVar's name, extent or narrower DimVar) pairs, by name.
    """

    origin: Function
    bound: tuple[tuple[str, int | DimVar], ...]


def origin_of(fn: Function) -> Function:
    """The authored function that `fn` was specialised from, over any number of steps; `fn` itself when authored."""
    return origins(fn)[-1]


def origins(fn: Function) -> tuple[Function, ...]:
    """`fn`, what it was specialised from, and so on to the authored function."""
    record = find_metadata(fn.metadata, SpecializationMetadata)
    return (fn,) if record is None else (fn, *origins(record.origin))


def bound_dims_of(fn: Function) -> dict[str, int | DimVar]:
    """The extents that `fn` was given on its way from `origin_of`, by DimVar name; the latest counts."""
    record = find_metadata(fn.metadata, SpecializationMetadata)
    return {} if record is None else {**bound_dims_of(record.origin), **dict(record.bound)}
