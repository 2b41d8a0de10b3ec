"""Corresponding runs of two outputs, in the arithmetic that every predicate shares.

An output is compared a run at a time: f64 copies of a whole output would cost several times its memory, and a run
that stays in the cache is faster. What several predicates need is computed once per run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

# On the CPU the most that torch works on in one thread (its grain size): a run of many short parallel steps would wait
# for the slowest thread at every one of them, many times over on a busy machine. Elsewhere a step costs a launch.
_CPU_RUN, _DEVICE_RUN = 1 << 15, 1 << 22


class Chunk:
    """Elements `start, start + 1, ...` (C order) of the candidate and, if there is one, of the reference."""

    def __init__(self, start: int, candidate: Tensor, reference: Tensor | None) -> None:
        self.start = start
        self.candidate = candidate
        self._reference = reference

    @property
    def reference(self) -> Tensor:
        """The reference's elements, in their own dtype."""
        assert self._reference is not None, "a predicate that needs a reference was measured without one"
        return self._reference

    @cached_property
    def candidate_f64(self) -> Tensor:
        """(n,) in f64, or (n, 2) for complex elements."""
        return _to_f64(self.candidate)

    @cached_property
    def reference_f64(self) -> Tensor:
        """(n,) in f64, or (n, 2) for complex elements."""
        return _to_f64(self.reference)

    @cached_property
    def distance(self) -> Tensor:
        """(n,) `|candidate - reference|`: 0 for equal infinities, NaN where either side is NaN."""
        candidate, reference = self.candidate_f64, self.reference_f64
        parts = (candidate - reference).abs_()
        if not _all_finite(parts):
            parts = torch.where(candidate == reference, 0.0, parts)
        if parts.ndim == 1:
            return parts
        # hypot(inf, nan) is inf: the sum keeps the NaN.
        return torch.where(parts.isnan().any(-1), torch.nan, torch.hypot(parts[:, 0], parts[:, 1]))

    @cached_property
    def special(self) -> bool:
        """Whether any distance is infinite or NaN, or either side holds an infinity."""
        return not (_all_finite(self.distance) and _all_finite(self.magnitude))

    @cached_property
    def magnitude(self) -> Tensor:
        """(n,) `|reference|`."""
        return _modulus(self.reference_f64)

    @cached_property
    def both_nan(self) -> Tensor:
        """(n,) where candidate and reference are both NaN."""
        return _modulus_is_nan(self.candidate_f64) & _modulus_is_nan(self.reference_f64)


def chunks(candidate: Tensor, reference: Tensor | None) -> Iterator[Chunk]:
    """Split two outputs of one shape and dtype into runs; the reference's move to the candidate's device."""
    flat = candidate.reshape(-1)
    flat_reference = None if reference is None else reference.reshape(-1)
    length = _CPU_RUN if flat.device.type == "cpu" else _DEVICE_RUN
    for start in range(0, flat.numel(), length):
        run = flat[start : start + length]
        other = None if flat_reference is None else flat_reference[start : start + length].to(run.device)
        yield Chunk(start, run, other)


def first_true(mask: Tensor) -> int | None:
    """Position of the first True of a 1-D mask."""
    hits = mask.nonzero()
    return int(hits[0, 0]) if hits.numel() else None


def _to_f64(tensor: Tensor) -> Tensor:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.to(torch.float64)


def _modulus(values: Tensor) -> Tensor:
    return values.abs() if values.ndim == 1 else torch.hypot(values[:, 0], values[:, 1])


def _modulus_is_nan(values: Tensor) -> Tensor:
    return values.isnan() if values.ndim == 1 else values.isnan().any(-1)


def _all_finite(values: Tensor) -> bool:
    # max propagates NaN, so one reduction sees both NaN and infinity. The values are not negative.
    return bool(values.max().isfinite())
