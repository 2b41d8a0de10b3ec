"""Windows of reshaped values: of axes that are split into several, or merged into one, boxes that stay boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.ir.dims import dim_add, dim_equal, dim_floordiv, dim_mod, dim_mul, dim_product
from tilefoundry.ir.types import ShapeDim
from tilefoundry.passes.lower.fragments import Modes, in_two
from tilefoundry.passes.lower.values import Scalar


@dataclass(frozen=True, slots=True)
class Span:
    """What a window has of an axis: the start, a number that divides it (0 where it is 0), the extent, the modes."""

    start: Scalar
    step: int
    size: int
    modes: Modes


_ONE = Span(0, 0, 1, ())


def axis_groups(own: Sequence[ShapeDim], shape: Sequence[ShapeDim]) -> list[tuple[list[int], list[int]]] | None:
    """The axes of extent other than 1 of two shapes of one value, in the smallest groups of as many elements.

    None where the groups cannot be told, for extents that are symbolic.
    """
    left = [k for k, extent in enumerate(own) if extent != 1]
    right = [k for k, extent in enumerate(shape) if extent != 1]
    groups: list[tuple[list[int], list[int]]] = []
    while left and right:
        mine, theirs = [left.pop(0)], [right.pop(0)]
        while not dim_equal(a := dim_product(own[k] for k in mine), b := dim_product(shape[k] for k in theirs)):
            smaller = isinstance(a, int) and (not isinstance(b, int) or a < b)
            if smaller and left:
                mine.append(left.pop(0))
            elif right:
                theirs.append(right.pop(0))
            elif left:
                mine.append(left.pop(0))
            else:
                return None
        groups.append((mine, theirs))
    return None if left or right else groups


def keeps_axes(own: Sequence[ShapeDim], shape: Sequence[ShapeDim]) -> bool:
    """Whether a reshape changes axes of extent 1 only, so that any window of the one is a window of the other."""
    groups = axis_groups(own, shape)
    return groups is not None and all(len(mine) == len(theirs) == 1 for mine, theirs in groups)


def regrouped(own: Sequence[ShapeDim], shape: Sequence[ShapeDim], window: Sequence[Span]) -> list[Span] | None:
    """The window of a value of shape `own` that is the `window` of it under `shape`; None where that is no box."""
    groups = axis_groups(own, shape)
    if groups is None:
        return None
    spans = [_ONE] * len(own)
    for mine, theirs in groups:
        merged = _merged([window[k] for k in theirs], [shape[k] for k in theirs])
        split = None if merged is None else _split(merged, [own[k] for k in mine])
        if split is None:
            return None
        for axis, span in zip(mine, split, strict=True):
            spans[axis] = span
    return spans


def _merged(window: Sequence[Span], shape: Sequence[ShapeDim]) -> Span | None:
    """Neighbouring axes as one: whole ones after one that is cut after ones of which one place is taken."""
    span, inner = window[-1], shape[-1]
    for axis in reversed(range(len(window) - 1)):
        outer = window[axis]
        whole = span.start == 0 and span.size == inner
        if not whole and outer.size != 1:
            return None
        step = math.gcd(outer.step * inner, span.step) if isinstance(inner, int) else 1
        start = dim_add(dim_mul(outer.start, inner), span.start)
        size = outer.size * span.size
        span, inner = Span(start, step, size, outer.modes + span.modes), dim_mul(shape[axis], inner)
    return span


def _split(span: Span, shape: Sequence[ShapeDim]) -> list[Span] | None:
    """One axis as several neighbouring ones, of which the window is a box."""
    if len(shape) == 1:
        return [span]
    extent, rest = shape[-1], shape[:-1]
    if not isinstance(extent, int):
        if span.size != 1:
            return None
        outer = _split(Span(dim_floordiv(span.start, extent), 1, 1, ()), rest)
        return None if outer is None else [*outer, Span(dim_mod(span.start, extent), 1, 1, ())]
    if span.size % extent == 0 and span.step % extent == 0:
        parts = in_two(span.modes, extent)
        if parts is None:
            return None
        head, tail = parts
        whole = Span(dim_floordiv(span.start, extent), span.step // extent, span.size // extent, head)
        before = _split(whole, rest)
        return None if before is None else [*before, Span(0, 0, extent, tail)]
    if extent % span.size or (span.size != 1 and span.step % span.size):
        return None
    step = math.gcd(span.step, extent)
    inner = Span(dim_mod(span.start, extent), step, span.size, span.modes)
    place = Span(dim_floordiv(span.start, extent), 1, 1, ())
    outer = _split(place, rest)
    return None if outer is None else [*outer, inner]
