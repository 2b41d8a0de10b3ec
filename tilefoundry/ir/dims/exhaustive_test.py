"""All small dims over two DimVars: the normal form keeps the value, so equal forms have equal values."""

import itertools

import pytest

from tilefoundry.diagnostics import DimSubstitutionError
from tilefoundry.ir.core import Call
from tilefoundry.ir.dims import (
    DimAdd,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimSub,
    DimVar,
    evaluate_dim,
    normalize_dim,
)

M, N = DimVar("M", -4, 9), DimVar("N", -4, 9)
OPS = (DimAdd(), DimSub(), DimMul(), DimFloorDiv(), DimMod(), DimMin(), DimMax())
ENVELOPE = [{"M": m, "N": n} for m, n in itertools.product((-3, 0, 1, 2, 7), repeat=2)]
LEAVES = (M, N, -2, 0, 1, 3)


def values(dim):
    """The value under each binding; None where it divides by zero."""
    result = []
    for bindings in ENVELOPE:
        try:
            result.append(evaluate_dim(dim, bindings))
        except DimSubstitutionError:
            result.append(None)
    return tuple(result)


def folded(op, a, b):
    result = []
    for x, y in zip(a, b, strict=True):
        undefined = x is None or y is None or (y == 0 and op in (DimFloorDiv(), DimMod()))
        result.append(None if undefined else op.fold(x, y))
    return tuple(result)


def forms(op, pairs, known):
    """For each pair of dims that `op` may join: the value of the call, and its normal form."""
    for a, b in pairs:
        try:
            form = normalize_dim(Call(op, (a, b)))
        except DimSubstitutionError:  # divides by a constant zero: there is no value anywhere
            assert all(v is None for v in folded(op, known[a], known[b]))
            continue
        yield folded(op, known[a], known[b]), form


def agree(expected, form, seen):
    found = seen.setdefault(form, None)
    if found is None:
        found = seen[form] = values(form)
    return all(e is None or e == f for e, f in zip(expected, found, strict=True))


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.op_name)
def test_every_dim_of_three_leaves_keeps_its_value(op):
    known = {leaf: values(leaf) for leaf in LEAVES}
    seen = {}
    small = {}
    for inner in OPS:
        for expected, form in forms(inner, itertools.product(LEAVES, repeat=2), known):
            assert agree(expected, form, seen)
            small[form] = values(form)
    known.update(small)
    pairs = [*itertools.product(small, LEAVES), *itertools.product(LEAVES, small)]
    count = 0
    for expected, form in forms(op, pairs, known):
        count += 1
        assert agree(expected, form, seen), (expected, form)
        assert normalize_dim(form) == form
    assert count > 800
