"""Predicates on bit patterns: equal, ulp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from tilefoundry.runtime.measure.bits import (
    bit_view,
    float_order,
    integer_order,
    is_discrete,
    largest_unsigned,
    unsigned_distance,
)
from tilefoundry.runtime.measure.chunk import Chunk, first_true
from tilefoundry.runtime.measure.errors import CheckValueError
from tilefoundry.runtime.measure.predicate import (
    MISSING,
    Predicate,
    PredicateResult,
    Specials,
    index_text,
    join_notes,
)


@dataclass(frozen=True)
class Equal(Predicate):
    """Every element has the same bits: a NaN equals the same NaN, and -0.0 differs from +0.0.

    Measures how many elements differ and, on integers and booleans, the exact worst difference.
    """

    name: ClassVar[str] = "equal"
    discrete: ClassVar[bool] = True

    def measure(self, shape: tuple[int, ...]) -> _Equal:
        return _Equal(self, shape)


@dataclass(frozen=True)
class Ulp(Predicate):
    """Candidate and reference are at most `max` representable steps apart.

    -0.0 and +0.0 are one point. An infinity against anything else and a NaN fail for every bound.
    """

    max: float = MISSING
    equal_nan: bool = False

    name: ClassVar[str] = "ulp"
    bounds: ClassVar[tuple[str, ...]] = ("max",)

    def measure(self, shape: tuple[int, ...]) -> _Ulp:
        return _Ulp(self, shape)


class _Equal:
    def __init__(self, predicate: Equal, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._shape = shape
        self._differing = 0
        self._first: str | None = None
        self._worst: int | None = None

    def add(self, chunk: Chunk) -> None:
        candidate, reference = bit_view(chunk.candidate), bit_view(chunk.reference)
        differs = candidate != reference
        if differs.ndim == 2:
            differs = differs.any(-1)
        self._differing += int(differs.sum())
        if self._first is None and (at := first_true(differs)) is not None:
            sides = _told_apart(chunk.candidate[at], chunk.reference[at])
            self._first = f"first at {index_text(chunk.start + at, self._shape)}: {sides}"
        if is_discrete(chunk.candidate.dtype):
            apart = unsigned_distance(integer_order(chunk.candidate), integer_order(chunk.reference))
            self._worst = max(self._worst or 0, largest_unsigned(apart)[0])

    def result(self) -> PredicateResult:
        values: dict[str, float] = {"differing": self._differing}
        if self._worst is not None:
            values["max_abs"] = self._worst
        return PredicateResult(self._predicate, values, self._differing == 0, self._first)


class _Ulp:
    def __init__(self, predicate: Ulp, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._specials = Specials(shape, predicate.equal_nan)
        self._steps = 0
        self._steps_to_infinity = 0

    def add(self, chunk: Chunk) -> None:
        if chunk.candidate.is_complex():
            raise CheckValueError("ulp: complex numbers have no order; state allclose, max_abs or rel_l2 instead")
        distance = self._specials.screen(chunk)
        steps = unsigned_distance(float_order(chunk.candidate), float_order(chunk.reference))
        if chunk.special:
            infinite = distance.isinf()
            if infinite.any():
                self._steps_to_infinity = max(self._steps_to_infinity, largest_unsigned(steps[infinite])[0])
            # NaN bit patterns are no points of the scale, and f64 neighbours of the extremes may be inf apart.
            steps = steps[distance.isfinite() & ~chunk.both_nan]
        if steps.numel():
            self._steps = max(self._steps, largest_unsigned(steps)[0])

    def result(self) -> PredicateResult:
        notes = self._specials.notes()
        if self._steps_to_infinity:
            notes.append(f"{self._steps_to_infinity} steps across an infinity")
        special = self._specials.value
        value = self._steps if special is None else special
        return PredicateResult(
            self._predicate, {"ulp": value}, special is None and value <= self._predicate.max, join_notes(notes)
        )


def _told_apart(candidate: Tensor, reference: Tensor) -> str:
    """Both values; with their bits where the values print alike (NaN payloads)."""
    c, r = (str(side.item()) for side in (candidate, reference))
    if c != r:
        return f"{c} against {r}"
    return f"{c} ({_hex(candidate)}) against {r} ({_hex(reference)})"


def _hex(value: Tensor) -> str:
    width = value.element_size() // (2 if value.is_complex() else 1)
    words = bit_view(value).reshape(-1).tolist()
    return " ".join(f"0x{word % (1 << 8 * width):0{2 * width}x}" for word in words)
