"""Predicates on whole outputs as vectors: rel_l2, cosine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from tilefoundry.runtime.measure.chunk import Chunk
from tilefoundry.runtime.measure.errors import CheckValueError
from tilefoundry.runtime.measure.predicate import (
    MISSING,
    Predicate,
    PredicateResult,
    Specials,
    join_notes,
)

# Products of factors inside this band neither overflow nor vanish in f64, whatever their number.
_SAFE_EXPONENT = 200


@dataclass(frozen=True)
class RelL2(Predicate):
    """`||c - r|| / ||r||` is at most `max`. Against a zero reference `||c||` is measured, with a note."""

    max: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "rel_l2"
    bounds: ClassVar[tuple[str, ...]] = ("max",)

    def measure(self, shape: tuple[int, ...]) -> _RelL2:
        return _RelL2(self, shape)


@dataclass(frozen=True)
class Cosine(Predicate):
    """`<c, r> / (||c|| ||r||)` is at least `min`; complex elements count as their two parts.

    A zero vector has no direction: it agrees with another zero vector and with nothing else, with a note.
    """

    min: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "cosine"
    bounds: ClassVar[tuple[str, ...]] = ("min",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min > 1:
            raise CheckValueError(f"cosine: bound 'min' is at most 1, got {self.min!r}; nothing could pass")

    def measure(self, shape: tuple[int, ...]) -> _Cosine:
        return _Cosine(self, shape)


class ScaledSum:
    """A sum of products of f64 vectors, held as `total * 2**exponent`, so that no square overflows or vanishes."""

    def __init__(self) -> None:
        self.total = 0.0
        self.exponent = 0

    def add(self, a: Tensor, b: Tensor) -> None:
        """Add `sum(a * b)` of two vectors of equal shape."""
        ea, eb = _exponent(a), _exponent(b)
        part, exponent = float((_scaled(a, -ea) * _scaled(b, -eb)).sum()), ea + eb
        if self.total == 0.0:
            self.total, self.exponent = part, exponent
        elif part != 0.0:
            common = max(exponent, self.exponent)
            self.total = math.ldexp(self.total, self.exponent - common) + math.ldexp(part, exponent - common)
            self.exponent = common

    def sqrt(self) -> float:
        """The square root of the sum; infinite when it exceeds f64."""
        return _ldexp(math.sqrt(self.total), self.exponent // 2)


class _RelL2:
    def __init__(self, predicate: RelL2, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._specials = Specials(shape, predicate.equal_nan)
        self._error, self._reference = ScaledSum(), ScaledSum()
        self._left_out = 0

    def add(self, chunk: Chunk) -> None:
        distance, magnitude = self._specials.screen(chunk), chunk.magnitude
        if chunk.special:
            keep = magnitude.isfinite() & distance.isfinite()
            self._left_out += int((~keep & (distance == 0)).sum())
            distance, magnitude = distance[keep], magnitude[keep]
        if distance.numel():
            self._error.add(distance, distance)
            self._reference.add(magnitude, magnitude)

    def result(self) -> PredicateResult:
        notes = self._specials.notes() + _left_out_note(self._left_out)
        value = self._specials.value
        if value is None and self._reference.total == 0:
            value = self._error.sqrt()
            notes.append("the reference is zero: ||c|| measured absolutely")
        elif value is None:
            ratio = math.sqrt(self._error.total / self._reference.total)
            value = _ldexp(ratio, (self._error.exponent - self._reference.exponent) // 2)
        passed = self._specials.value is None and value <= self._predicate.max
        return PredicateResult(self._predicate, {"rel_l2": value}, passed, join_notes(notes))


class _Cosine:
    def __init__(self, predicate: Cosine, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._specials = Specials(shape, predicate.equal_nan)
        self._dot, self._candidate, self._reference = ScaledSum(), ScaledSum(), ScaledSum()
        self._left_out = 0

    def add(self, chunk: Chunk) -> None:
        distance, c, r = self._specials.screen(chunk), chunk.candidate_f64, chunk.reference_f64
        if chunk.special:
            keep = chunk.magnitude.isfinite() & distance.isfinite()
            self._left_out += int((~keep & (distance == 0)).sum())
            c, r = c[keep], r[keep]
        if c.numel():
            self._dot.add(c, r)
            self._candidate.add(c, c)
            self._reference.add(r, r)

    def result(self) -> PredicateResult:
        notes = self._specials.notes() + _left_out_note(self._left_out)
        if self._specials.value is not None:
            return PredicateResult(self._predicate, {"cosine": math.nan}, False, join_notes(notes))
        candidate, reference, dot = self._candidate, self._reference, self._dot
        if candidate.total == 0 or reference.total == 0:
            both = candidate.total == reference.total
            notes.append("both are zero, no direction" if both else "one side is zero, no direction")
            notes.append("||c - r|| measured instead")
            apart = max(candidate.sqrt(), reference.sqrt())
            return PredicateResult(self._predicate, {"abs_l2": apart}, both, join_notes(notes))
        # For c = r the three sums are one number x, and sqrt(x * x) is x exactly.
        cosine = dot.total / math.sqrt(candidate.total * reference.total)
        cosine = math.ldexp(cosine, dot.exponent - (candidate.exponent + reference.exponent) // 2)
        cosine = max(-1.0, min(1.0, cosine))
        return PredicateResult(self._predicate, {"cosine": cosine}, cosine >= self._predicate.min, join_notes(notes))


def _left_out_note(count: int) -> list[str]:
    return [f"{count} agreeing non-finite elements left out"] if count else []


def _exponent(values: Tensor) -> int:
    largest = float(values.abs().max())
    if largest == 0 or not math.isfinite(largest):
        return 0
    exponent = math.frexp(largest)[1]
    return 0 if abs(exponent) <= _SAFE_EXPONENT else exponent


def _scaled(values: Tensor, exponent: int) -> Tensor:
    # Two steps: 2**1074, which lifts the smallest f64, is no f64 itself.
    half = exponent // 2
    return values if exponent == 0 else values * 2.0**half * 2.0 ** (exponent - half)


def _ldexp(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf
