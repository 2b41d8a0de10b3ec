"""What a predicate is: one comparison, its stated bounds, and how it is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

from torch import Tensor

from tilefoundry.runtime.measure.chunk import Chunk, first_true
from tilefoundry.runtime.measure.errors import CheckTypeError, CheckValueError

MISSING = math.nan
"""Default of every bound: a bound that is not stated is refused, like one that is NaN."""


@dataclass(frozen=True)
class Predicate:
    """One comparison and its bound. `str()` gives it as it is written, bounds included.

    Raises:
        CheckValueError: a bound is missing, NaN or negative.
        CheckTypeError: a bound is not a number.
    """

    name: ClassVar[str]
    bounds: ClassVar[tuple[str, ...]] = ()
    needs_reference: ClassVar[bool] = True
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for bound in self.bounds:
            value = getattr(self, bound)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise CheckTypeError(f"{self.name}: bound {bound!r} must be a number, got {value!r}")
            if math.isnan(value):
                raise CheckValueError(f"{self.name}: bound {bound!r} is missing or NaN; state it")
            if value < 0:
                raise CheckValueError(f"{self.name}: bound {bound!r} must not be negative, got {value!r}")

    def __str__(self) -> str:
        # An option that is off goes without saying; a bound never does.
        stated = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) is not False]
        return (
            f"{self.name}({', '.join(f'{k}={v:.6g}' if k in self.bounds else k for k, v in stated if v is not False)})"
        )

    def measure(self, shape: tuple[int, ...]) -> Measurement:
        """Start measuring one output of this shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is measured")


@dataclass(frozen=True)
class PredicateResult:
    """What one predicate measured on one output.

    `values` says what was measured, by name; `note` says when the measure changed its meaning, or where it failed.
    """

    predicate: Predicate
    values: Mapping[str, float]
    passed: bool
    note: str | None = None


class Measurement(Protocol):
    """A predicate at work on one output: fed every `Chunk` once, in order, then asked for the result."""

    def add(self, chunk: Chunk) -> None: ...

    def result(self) -> PredicateResult: ...


class Specials:
    """NaNs and disagreeing infinities: what no tolerance excuses, and where they first are."""

    def __init__(self, shape: tuple[int, ...], equal_nan: bool) -> None:
        self._shape = shape
        self._equal_nan = equal_nan
        self._first_nan: int | None = None
        self._first_infinity: int | None = None

    def screen(self, chunk: Chunk) -> Tensor:
        """The chunk's distances, with 0 for the NaN pairs that `equal_nan` forgives."""
        distance = chunk.distance
        if not chunk.special:
            return distance
        if self._equal_nan:
            distance = distance.masked_fill(chunk.both_nan, 0.0)
        if self._first_nan is None and (at := first_true(distance.isnan())) is not None:
            self._first_nan = chunk.start + at
        if self._first_infinity is None and (at := first_true(distance.isinf())) is not None:
            self._first_infinity = chunk.start + at
        return distance

    @property
    def value(self) -> float | None:
        """What a measure over such elements is: NaN before infinity; None when there are none."""
        if self._first_nan is not None:
            return math.nan
        return None if self._first_infinity is None else math.inf

    def notes(self) -> list[str]:
        """One phrase for each kind that was seen, with its first index."""
        found = (("NaN", self._first_nan), ("infinite difference", self._first_infinity))
        return [f"first {kind} at {index_text(at, self._shape)}" for kind, at in found if at is not None]


def index_text(flat: int, shape: tuple[int, ...]) -> str:
    """A flat C-order position as `[i, j, ...]`."""
    return str(list(unravel(flat, shape)))


def unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index tuple of a flat C-order position."""
    index = []
    for extent in reversed(shape):
        flat, position = divmod(flat, extent)
        index.append(position)
    return tuple(reversed(index))


def join_notes(notes: list[str]) -> str | None:
    """The `note` of a result; None when there is nothing to say."""
    return "; ".join(notes) or None
