import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import DimSubstitutionError
from tilefoundry.ir.core import Call, Var
from tilefoundry.ir.dims import (
    INDEX_TYPE,
    DimAdd,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimSub,
    DimVar,
    dim_range,
    evaluate_dim,
    linear_in,
    normalize_dim,
    solve_dim,
    unequal,
)

M, N, Z = DimVar("M", 1, 6), DimVar("N", 3, 8), DimVar("Z", -3, 4)
OPS = (DimAdd, DimSub, DimMul, DimFloorDiv, DimMod, DimMin, DimMax)


def dims(depth):
    leaf = st.one_of(st.integers(-4, 6), st.sampled_from((M, N, Z)))
    if depth == 0:
        return leaf
    inner = dims(depth - 1)
    return st.one_of(leaf, st.builds(lambda op, a, b: Call(op(), (a, b)), st.sampled_from(OPS), inner, inner))


@settings(max_examples=300, deadline=None)
@given(dims(2))
def test_no_value_lies_outside_the_range(dim):
    reach = dim_range(dim)
    for values in itertools.product(*(range(v.lo, v.hi) for v in (M, N, Z))):
        try:
            value = evaluate_dim(dim, dict(zip("MNZ", values, strict=True)))
        except DimSubstitutionError:
            assert reach is None
            continue
        assert reach is None or reach[0] <= value <= reach[1]


@pytest.mark.parametrize(
    ("dim", "reach"),
    [
        (5, (5, 5)),
        (M, (1, 5)),
        (M * 2 + 1, (3, 11)),
        (M - N, (-6, 2)),
        (M * Z, (-15, 15)),
        (N // M, (0, 7)),
        (N % 4, (0, 3)),
        (M % 8, (1, 5)),
        (M // Z, None),
        (M % Z, None),
        (Call(DimAdd(), (Var("i", INDEX_TYPE), 1)), None),
    ],
)
def test_ranges(dim, reach):
    assert dim_range(dim) == reach


@pytest.mark.parametrize(
    ("dim", "found"),
    [
        (M, (M, 1, 0)),
        (2 * M, (M, 2, 0)),
        (M * 3 + 4 - M, (M, 2, 4)),
        (7 - M, (M, -1, 7)),
        (M * N, None),
        (M + N, None),
        (M * M, None),
        (M // 2, None),
        (M - M, None),
        (5, None),
    ],
)
def test_linear_forms(dim, found):
    assert linear_in(dim) == found


@settings(deadline=None)
@given(st.integers(-4, 4).filter(bool), st.integers(-5, 5), st.integers(-20, 20))
def test_solutions_are_those_that_exist(scale, offset, extent):
    solved = solve_dim(M * scale + offset, extent)
    exact = [m for m in range(-30, 30) if scale * m + offset == extent]
    assert solved == ((M, exact[0]) if exact else None)


def test_symbolic_extents_are_solved_where_they_divide():
    assert solve_dim(2 * M, N * 4) == (M, normalize_dim(N * 2))
    assert solve_dim(2 * M + 1, N * 4 + 1) == (M, normalize_dim(N * 2))
    assert solve_dim(2 * M, N) is None


def test_two_dims_differ_or_cannot_be_compared():
    assert unequal(M + 1, M) == "M + 1 and M differ"
    assert unequal(4, 5) == "4 and 5 differ"
    assert unequal(M, N) == "cannot prove that M equals N"
