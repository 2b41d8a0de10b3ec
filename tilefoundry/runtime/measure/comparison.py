"""`check`: run two callables on the same inputs and measure how far apart their results are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from tilefoundry.runtime.measure.bits import (
    integer_order,
    is_discrete,
    largest_unsigned,
    same_bits,
    unsigned_distance,
)
from tilefoundry.runtime.measure.chunk import Chunk, chunks, first_true
from tilefoundry.runtime.measure.errors import CheckTypeError, CheckValueError
from tilefoundry.runtime.measure.norm import ScaledSum
from tilefoundry.runtime.measure.predicate import Predicate, PredicateResult, unravel
from tilefoundry.runtime.measure.report import OutputCheck, Report, WorstElement
from tilefoundry.runtime.measure.structure import Leaves, copy_inputs, flatten, require_same_form

_PACKED = torch.float4_e2m1fn_x2


def check(
    candidate: Callable[..., object],
    reference: Callable[..., object] | None,
    inputs: tuple[object, ...],
    *,
    expect: Mapping[str, Sequence[Predicate]],
) -> Report:
    """Run `candidate(*inputs)`, and `reference(*inputs)` on copies, and hold each output against stated bounds.

    Args:
        candidate: what is judged. Anything callable on `inputs`.
        reference: what it is judged by; None admits only predicates that need none (`NanInf`).
        inputs: each a tensor or a nested tuple of tensors.
        expect: for each produced path ("output", or "output[0]", "output[0][1]", ... of a tuple) its predicates.

    Returns:
        The report. A difference beyond its bound is a report that did not pass, not an exception.

    Raises:
        CheckTypeError: an input or result is no tensor or tuple of tensors; `expect` holds no predicates.
        CheckValueError: the results differ in structure, shape or dtype; a path has no predicates, or was not
            produced; nothing was produced; a predicate does not apply (no reference, or an output of integers).
    """
    stated = _stated(expect, reference is not None)
    if not isinstance(inputs, tuple):
        raise CheckTypeError(f"inputs: expected a tuple, one item per argument, got {type(inputs).__name__}")
    given = [leaf for i, tree in enumerate(inputs) for leaf in flatten(tree, f"input[{i}]")]
    copies = copy_inputs(inputs)
    kept = [leaf for i, tree in enumerate(copies) for leaf in flatten(tree, f"input[{i}]")]

    produced = flatten(candidate(*inputs), "output")
    # Before the reference runs, which may write into its copies.
    mutated = tuple(path for (path, now), (_, then) in zip(given, kept, strict=True) if not same_bits(now, then))
    expected: Leaves | None = None
    if reference is not None:
        expected = flatten(reference(*copies), "output")
        require_same_form(produced, expected)
    _require_complete(stated, produced)

    references = [None] * len(produced) if expected is None else [tensor for _, tensor in expected]
    outputs = [
        _measure(path, tensor, other, stated[path]) for (path, tensor), other in zip(produced, references, strict=True)
    ]
    return Report(tuple(outputs), mutated)


def _stated(expect: Mapping[str, Sequence[Predicate]], has_reference: bool) -> dict[str, tuple[Predicate, ...]]:
    if not isinstance(expect, Mapping):
        raise CheckTypeError(f"expect: expected a mapping from path to predicates, got {type(expect).__name__}")
    stated = {}
    for path, predicates in expect.items():
        items: object = predicates  # the annotation binds nobody who does not run a type checker
        if not isinstance(items, Sequence) or not all(isinstance(p, Predicate) for p in items):
            raise CheckTypeError(f"expect[{path!r}]: expected a sequence of predicates, got {predicates!r}")
        if not predicates:
            raise CheckValueError(f"expect[{path!r}]: the list of predicates is empty; nothing would be checked")
        for predicate in predicates:
            if predicate.needs_reference and not has_reference:
                raise CheckValueError(f"expect[{path!r}]: {predicate.name} needs a reference, and reference is None")
        stated[path] = tuple(predicates)
    return stated


def _require_complete(stated: Mapping[str, object], produced: Leaves) -> None:
    paths = [path for path, _ in produced]
    if not paths:
        raise CheckValueError("the result holds no tensor, so nothing would be checked")
    if unproduced := [path for path in stated if path not in paths]:
        raise CheckValueError(f"expect names {', '.join(unproduced)}, but what was produced is {', '.join(paths)}")
    if unstated := [path for path in paths if path not in stated]:
        raise CheckValueError(f"expect states no predicate for {', '.join(unstated)}")


def _measure(path: str, candidate: Tensor, reference: Tensor | None, predicates: tuple[Predicate, ...]) -> OutputCheck:
    shape, dtype = tuple(candidate.shape), str(candidate.dtype).removeprefix("torch.")
    if candidate.dtype == _PACKED:
        raise CheckTypeError(f"{path}: {dtype} packs two values in an element; unpack them before they are compared")
    for predicate in predicates:
        if is_discrete(candidate.dtype) and not predicate.discrete:
            raise CheckValueError(f"{path}: {predicate.name} has no meaning on {dtype}; state equal instead")
    if candidate.numel() == 0:
        nothing = tuple(PredicateResult(p, {}, True, "nothing compared") for p in predicates)
        return OutputCheck(path, shape, dtype, None if reference is None else 0.0, nothing)

    measurements = [predicate.measure(shape) for predicate in predicates]
    summary = _Summary(forgive_nan=any(getattr(p, "equal_nan", False) for p in predicates))
    for chunk in chunks(candidate, reference):
        summary.add(chunk, reference is not None)
        for measurement in measurements:
            measurement.add(chunk)
    results = tuple(measurement.result() for measurement in measurements)
    ref_norm = None if reference is None else summary.norm.sqrt()
    return OutputCheck(path, shape, dtype, ref_norm, results, summary.worst(candidate, reference))


class _Summary:
    """What is reported whatever the predicates: the reference's norm and the worst element."""

    def __init__(self, forgive_nan: bool) -> None:
        self._forgive_nan = forgive_nan
        self.norm = ScaledSum()
        self._rank: tuple[float, float] = (0, 0)
        self._at: int | None = None

    def add(self, chunk: Chunk, has_reference: bool) -> None:
        if not has_reference:
            bad = ~_finite(chunk.candidate_f64)
            if self._at is None and (at := first_true(bad)) is not None:
                self._at = chunk.start + at
            return
        self.norm.add(chunk.magnitude, chunk.magnitude)
        if is_discrete(chunk.candidate.dtype):
            apart = unsigned_distance(integer_order(chunk.candidate), integer_order(chunk.reference))
            exact, at = largest_unsigned(apart)
            self._offer((0, exact), chunk.start + at)
            return
        distance = chunk.distance
        if chunk.special:
            if self._forgive_nan:
                distance = distance.masked_fill(chunk.both_nan, 0.0)
            if (nan := first_true(distance.isnan())) is not None:
                self._offer((1, 0), chunk.start + nan)
                return
        at = int(distance.argmax())
        self._offer((0, float(distance[at])), chunk.start + at)

    def _offer(self, rank: tuple[float, float], at: int) -> None:
        if rank > self._rank:
            self._rank, self._at = rank, at

    def worst(self, candidate: Tensor, reference: Tensor | None) -> WorstElement | None:
        if self._at is None:
            return None
        index = unravel(self._at, tuple(candidate.shape))
        return WorstElement(index, candidate[index].item(), None if reference is None else reference[index].item())


def _finite(values: Tensor) -> Tensor:
    return values.isfinite() if values.ndim == 1 else values.isfinite().all(-1)
