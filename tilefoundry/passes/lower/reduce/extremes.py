"""The few greatest or least elements of an axis in order: the extremum, then that of the others, and so on.

Of equal elements the first comes first, as in a stable sort, and NaN counts as the greatest.
"""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.hir import BinaryKind, ReduceKind, UnaryKind
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.reduce.search import first_place, positions

MOST = 32  # each element costs passes over the whole axis


def extremes(p: Primitives, x: Expr, axis: int, count: int, *, largest: bool) -> Tuple:
    """Values and places of `count` elements, at least one, along the non-negative axis."""
    t = tensor_type(x)
    places, slots = (positions(p, t, axis, extent) for extent in (t.shape[axis], count))
    values, is_best = _best(p, x, axis, None, largest=largest)
    indices = first_place(p, t, axis, is_best, keepdim=True)
    taken: Expr = p.binary(BinaryKind.EQ, places, indices)
    for k in range(1, count):
        value, is_best = _best(p, x, axis, taken, largest=largest)
        place = first_place(p, t, axis, is_best, keepdim=True)
        taken = p.binary(BinaryKind.OR, taken, p.binary(BinaryKind.EQ, places, place))
        here = p.binary(BinaryKind.EQ, slots, k)
        values, indices = p.where(here, value, values), p.where(here, place, indices)
    return Tuple((values, indices))


def _best(p: Primitives, x: Expr, axis: int, taken: Expr | None, *, largest: bool) -> tuple[Expr, Expr]:
    """The extremum of the elements that are left, and which elements equal it; NaN is greater than any number."""
    kind, other = (ReduceKind.MAX, ReduceKind.MIN) if largest else (ReduceKind.MIN, ReduceKind.MAX)
    if not tensor_type(x).dtype.is_float:
        last = p.reduce(other, x, (axis,))  # what is taken never beats anything
        left = x if taken is None else p.where(taken, last, x)
        best = p.reduce(kind, left, (axis,))
        return best, _free(p, p.binary(BinaryKind.EQ, x, best), taken)
    is_nan = p.unary(UnaryKind.ISNAN, x)
    worst = -math.inf if largest else math.inf
    if largest:  # the reduction carries NaN
        left = x if taken is None else p.where(taken, worst, x)
        best = p.reduce(kind, left, (axis,))
        return best, _free(p, p.binary(BinaryKind.OR, p.binary(BinaryKind.EQ, x, best), is_nan), taken)
    left = p.where(is_nan if taken is None else p.binary(BinaryKind.OR, is_nan, taken), worst, x)
    best = p.reduce(kind, left, (axis,))
    equal = _free(p, p.binary(BinaryKind.EQ, x, best), taken)
    any_equal = p.reduce(ReduceKind.ANY, equal, (axis,))
    nans = p.binary(BinaryKind.AND, _free(p, is_nan, taken), p.unary(UnaryKind.NOT, any_equal))
    return p.where(any_equal, best, math.nan), p.binary(BinaryKind.OR, equal, nans)


def _free(p: Primitives, condition: Expr, taken: Expr | None) -> Expr:
    return condition if taken is None else p.binary(BinaryKind.AND, condition, p.unary(UnaryKind.NOT, taken))
