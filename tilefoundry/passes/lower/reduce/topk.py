"""TopK of few elements: the extremum, then that of the others, and so on."""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.hir import BinaryKind, ReduceKind, TopK, UnaryKind
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives, expands, operand
from tilefoundry.passes.lower.reduce.search import first_place, positions

_MOST = 32  # each element costs passes over the whole axis


@expands(TopK)
def expand_topk(p: Primitives, call: Call) -> Expr:
    op = call.target
    assert isinstance(op, TopK)
    if not isinstance(op.k, int) or not 1 <= op.k <= _MOST:
        p.refuse(
            f"tf.topk compiles for a k of 1 to {_MOST} that is known when the program is written, got {op.k}",
            "take fewer elements",
        )
    x = operand(call)
    t = tensor_type(x)
    axis = normalize_axis(op.axis, t.rank)
    places = positions(p, t, axis, t.shape[axis])
    slots = positions(p, t, axis, op.k)
    taken: Expr | None = None
    values: Expr | None = None
    indices: Expr | None = None
    for k in range(op.k):
        value, is_best = _best(p, x, axis, taken, largest=op.largest)
        place = first_place(p, t, axis, is_best, keepdim=True)
        chosen = p.binary(BinaryKind.EQ, places, place)
        taken = chosen if taken is None else p.binary(BinaryKind.OR, taken, chosen)
        here = p.binary(BinaryKind.EQ, slots, p.number(k))
        values = value if values is None else p.where(here, value, values)
        indices = place if indices is None else p.where(here, place, indices)
    assert values is not None and indices is not None  # k is at least 1
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
    worst = p.number(-math.inf if largest else math.inf)
    if largest:  # the reduction carries NaN
        left = x if taken is None else p.where(taken, worst, x)
        best = p.reduce(kind, left, (axis,))
        return best, _free(p, p.binary(BinaryKind.OR, p.binary(BinaryKind.EQ, x, best), is_nan), taken)
    left = p.where(is_nan if taken is None else p.binary(BinaryKind.OR, is_nan, taken), worst, x)
    best = p.reduce(kind, left, (axis,))
    equal = _free(p, p.binary(BinaryKind.EQ, x, best), taken)
    any_equal = p.reduce(ReduceKind.ANY, equal, (axis,))
    nans = p.binary(BinaryKind.AND, _free(p, is_nan, taken), p.unary(UnaryKind.NOT, any_equal))
    return p.where(any_equal, best, p.number(math.nan)), p.binary(BinaryKind.OR, equal, nans)


def _free(p: Primitives, condition: Expr, taken: Expr | None) -> Expr:
    return condition if taken is None else p.binary(BinaryKind.AND, condition, p.unary(UnaryKind.NOT, taken))
