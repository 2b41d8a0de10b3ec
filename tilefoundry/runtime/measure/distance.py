"""Predicates on the distance of single elements: allclose, max_abs, max_rel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from tilefoundry.runtime.measure.chunk import Chunk
from tilefoundry.runtime.measure.predicate import (
    MISSING,
    Predicate,
    PredicateResult,
    Specials,
    join_notes,
)


@dataclass(frozen=True)
class AllClose(Predicate):
    """Every element has `|c - r| <= atol + rtol * |r|`. Measures how many do not, and the largest `|c - r|`."""

    atol: float = MISSING
    rtol: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "allclose"
    bounds: ClassVar[tuple[str, ...]] = ("atol", "rtol")

    def measure(self, shape: tuple[int, ...]) -> _AllClose:
        return _AllClose(self, shape)


@dataclass(frozen=True)
class MaxAbs(Predicate):
    """The largest `|c - r|` is at most `max`."""

    max: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "max_abs"
    bounds: ClassVar[tuple[str, ...]] = ("max",)

    def measure(self, shape: tuple[int, ...]) -> _Largest:
        return _Largest(self, shape, self.max, self.equal_nan, relative=False)


@dataclass(frozen=True)
class MaxRel(Predicate):
    """The largest `|c - r| / |r|` is at most `max`. Where r is zero, `|c|` is measured instead, with a note."""

    max: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "max_rel"
    bounds: ClassVar[tuple[str, ...]] = ("max",)

    def measure(self, shape: tuple[int, ...]) -> _Largest:
        return _Largest(self, shape, self.max, self.equal_nan, relative=True)


class _AllClose:
    def __init__(self, predicate: AllClose, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._specials = Specials(shape, predicate.equal_nan)
        self._mismatched = 0
        self._largest = 0.0

    def add(self, chunk: Chunk) -> None:
        distance = self._specials.screen(chunk)
        tolerance = chunk.magnitude * self._predicate.rtol + self._predicate.atol
        close = distance <= tolerance
        if chunk.special:
            # Against an infinite reference the tolerance is infinite (or NaN, 0 * inf): only agreement counts.
            close = (close & distance.isfinite()) | (distance == 0)
        self._mismatched += distance.numel() - int(close.sum())
        self._largest = _larger(self._largest, float(distance.max()))

    def result(self) -> PredicateResult:
        values = {"mismatched": self._mismatched, "max_abs": self._largest}
        return PredicateResult(self._predicate, values, self._mismatched == 0, join_notes(self._specials.notes()))


class _Largest:
    def __init__(
        self, predicate: Predicate, shape: tuple[int, ...], bound: float, equal_nan: bool, *, relative: bool
    ) -> None:
        self._predicate = predicate
        self._bound = bound
        self._specials = Specials(shape, equal_nan)
        self._relative = relative
        self._largest = 0.0
        self._zero_references = 0

    def add(self, chunk: Chunk) -> None:
        distance = self._specials.screen(chunk)
        if self._relative:
            zero = (chunk.magnitude == 0) & (distance != 0)
            self._zero_references += int(zero.sum())
            # 0 / 0 is no error, and |c| stands for the quotient where only r is zero.
            quotient = distance / torch.where(chunk.magnitude == 0, 1.0, chunk.magnitude)
            if chunk.special:
                quotient = torch.where((distance == 0) | ~distance.isfinite(), distance, quotient)
            distance = quotient
        self._largest = _larger(self._largest, float(distance.max()))

    def result(self) -> PredicateResult:
        notes = self._specials.notes()
        if self._zero_references:
            notes.append(f"{self._zero_references} elements have a zero reference, measured absolutely")
        passed = self._specials.value is None and self._largest <= self._bound
        return PredicateResult(self._predicate, {self._predicate.name: self._largest}, passed, join_notes(notes))


def _larger(a: float, b: float) -> float:
    """The larger value; NaN when either is NaN."""
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)
