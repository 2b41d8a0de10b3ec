"""The predicate on the candidate alone: nan_inf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.runtime.measure.chunk import Chunk, first_true
from tilefoundry.runtime.measure.predicate import (
    Predicate,
    PredicateResult,
    index_text,
    join_notes,
)


@dataclass(frozen=True)
class NanInf(Predicate):
    """The candidate holds no NaN and no infinity. Needs no reference."""

    name: ClassVar[str] = "nan_inf"
    needs_reference: ClassVar[bool] = False

    def measure(self, shape: tuple[int, ...]) -> _NanInf:
        return _NanInf(self, shape)


class _NanInf:
    def __init__(self, predicate: NanInf, shape: tuple[int, ...]) -> None:
        self._predicate = predicate
        self._shape = shape
        self._nan = 0
        self._inf = 0
        self._notes: list[str] = []

    def add(self, chunk: Chunk) -> None:
        values = chunk.candidate_f64
        if values.isfinite().all():
            return
        nan, inf = values.isnan(), values.isinf()
        if values.ndim == 2:  # a complex element with a NaN part counts as NaN, whatever its other part
            nan = nan.any(-1)
            inf = inf.any(-1) & ~nan
        for kind, mask, seen in (("NaN", nan, self._nan), ("infinity", inf, self._inf)):
            if not seen and (at := first_true(mask)) is not None:
                self._notes.append(f"first {kind} at {index_text(chunk.start + at, self._shape)}")
        self._nan += int(nan.sum())
        self._inf += int(inf.sum())

    def result(self) -> PredicateResult:
        values = {"nan": self._nan, "inf": self._inf}
        return PredicateResult(self._predicate, values, self._nan + self._inf == 0, join_notes(self._notes))
