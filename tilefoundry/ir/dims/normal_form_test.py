import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.diagnostics import DimSubstitutionError, WrongTypeError, WrongValueError
from tilefoundry.ir.core import Call, Constant, Tuple, Var
from tilefoundry.ir.dims import (
    INDEX_TYPE,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimSub,
    DimVar,
    ceildiv,
    dim_equal,
    dim_max,
    dim_min,
    dim_vars,
    evaluate_dim,
    is_dim_expr,
    normalize_dim,
    simplify_dim,
    substitute_dim,
)
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import TupleGetItem

M, N, K = DimVar("M", 1, 100), DimVar("N", 0, 8), DimVar("K", 1, 9)
OPS = (DimAdd, DimSub, DimMul, DimFloorDiv, DimMod, DimMin, DimMax)
ENVELOPE = [dict(zip("MNK", values, strict=True)) for values in itertools.product((-3, 0, 1, 2, 5, 8), repeat=3)]


def specs(depth):
    """Dims as nested tuples, which print and shrink fast."""
    leaf = st.one_of(st.integers(-6, 9), st.sampled_from("MNK"))
    if depth == 0:
        return leaf
    return st.one_of(leaf, st.tuples(st.sampled_from(range(len(OPS))), specs(depth - 1), specs(depth - 1)))


def built(spec):
    match spec:
        case int():
            return spec
        case str():
            return {"M": M, "N": N, "K": K}[spec]
        case (op, a, b):
            return Call(OPS[op](), (built(a), built(b)))


def values(dim):
    """The value under each binding; None where it divides by zero."""
    result = []
    for bindings in ENVELOPE:
        try:
            result.append(evaluate_dim(dim, bindings))
        except DimSubstitutionError:
            result.append(None)
    return result


def normalized(dim):
    try:
        return normalize_dim(dim)
    except DimSubstitutionError:  # divides by a constant zero
        return None


@settings(max_examples=400, deadline=None)
@given(specs(3))
def test_the_normal_form_has_the_value_of_the_dim(spec):
    dim = built(spec)
    form = normalized(dim)
    if form is None:
        return
    for before, after in zip(values(dim), values(form), strict=True):
        assert before is None or before == after


@settings(max_examples=300, deadline=None)
@given(specs(3))
def test_normalizing_twice_changes_nothing(spec):
    dim = built(spec)
    form = normalized(dim)
    if form is not None:
        assert normalize_dim(form) == form


@settings(max_examples=300, deadline=None)
@given(specs(2), specs(2))
def test_sums_and_products_do_not_depend_on_the_order(a_spec, b_spec):
    a, b = built(a_spec), built(b_spec)
    for op in (DimAdd, DimMul, DimMin, DimMax):
        one, two = normalized(Call(op(), (a, b))), normalized(Call(op(), (b, a)))
        assert one == two
        assert one is None or format_dim(one) == format_dim(two)


@settings(max_examples=200, deadline=None)
@given(specs(2), specs(2))
def test_equal_forms_have_equal_values(a_spec, b_spec):
    a, b = built(a_spec), built(b_spec)
    if normalized(a) is not None and normalized(b) is not None and dim_equal(a, b):
        for x, y in zip(values(a), values(b), strict=True):
            assert x is None or y is None or x == y


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((M + N) * K, M * K + N * K),
        (M - M, 0),
        (M * 64 // 64, M),
        ((M * 64 + 63) // 64, M),
        ((M * 64 + 65) // 64, M + 1),
        (M * 6 // 4, M * 3 // 2),
        ((M * 6 + 1) // 4, M * 3 // 2),
        (M // 2 // 3, M // 6),
        ((M // 2 + 1) // 3, (M + 2) // 6),
        (M // 8 * 8 + M % 8, M),
        (M % 1, 0),
        (M * 4 % 4, 0),
        ((M + 8) % 8, M % 8),
        (M * N // N, M),
        ((M * N + N) // N, M + 1),
        (M // -2, (0 - M) // 2),
        (M // M, 1),
        (ceildiv(M * 128, 64), M * 2),
        (ceildiv(M, 1), M),
        (dim_min(M, M), M),
        (dim_min(M, M + 3), M),
        (dim_max(M, M + 3), M + 3),
        (dim_min(dim_min(M, 4), 6), dim_min(M, 4)),
        (dim_min(M + 1, N + 1), dim_min(M, N) + 1),
        (dim_min(M + 3, 5), dim_min(M, 2) + 3),
        (dim_max(dim_max(M, N), K), dim_max(M, dim_max(K, N))),
        (ceildiv(M * 64 + 1, 64), M + 1),
        (ceildiv(M * 64 - 63, 64), M),
        (ceildiv(ceildiv(M, 4), 8), ceildiv(M, 32)),
        (ceildiv(M, 64) * 64 // 64, ceildiv(M, 64)),
        (ceildiv(M + 64, 64), ceildiv(M, 64) + 1),
        (ceildiv(M * N, N), M + (N - 1) // N),
        (M * N // M, N),
        (M * N * K // (M * K), N),
        ((M * 64 + 5) % 64, 5),
        ((M * 64 + 69) % 64, 5),
        (M * N % N, 0),
        (M % 8 % 8, M % 8),
        (M % 8 % 4, M % 4),
        (M % 8 // 8, 0),
        (M % 8 // 4, M // 4 % 2),
        (M % -1, 0),
        (M * 2 % 6, M % 3 * 2),
        (dim_min(M, dim_max(M, N)), M),
        (dim_max(M, dim_min(M, N)), M),
        (dim_min(M + 1, dim_max(M, N) + 1), M + 1),
        (dim_min(M * 2, N * 2), dim_min(M, N) * 2),
        (dim_min(dim_min(M, N) * 2, 3), dim_min(M * 2, dim_min(N * 2, 3))),
        (dim_min(M, N) - dim_min(N, M), 0),
        (dim_min(M + N, M + K), M + dim_min(N, K)),
        (dim_max(dim_max(M, 4), dim_max(N, 6)), dim_max(M, dim_max(N, 6))),
        (dim_min(M, dim_min(N, M + 2)), dim_min(N, M)),
        (Call(DimConst(5), ()), 5),
        (Call(DimAdd(), (2, 3)), 5),
        (Call(DimMin(), (4, M - M)), 0),
    ],
)
def test_identities_that_the_normal_form_finds(a, b):
    assert dim_equal(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (M, N),
        (M // 2, M // 3),
        (M * 2 // 4, M),
        (dim_min(M, N), M),
        (M, DimVar("M", 1, 5)),
        ((M * N + 3) % N, 3),  # not where N <= 3
        (ceildiv(M * N, N), M),  # not where N < 0
        (dim_max(M, N), dim_min(M, N)),
        (dim_min(M * -1, N * -1), dim_min(M, N) * -1),
    ],
)
def test_what_is_not_proven_is_not_equal(a, b):
    assert not dim_equal(a, b)


def test_bounds_of_dim_vars_are_never_used():
    assert not dim_equal(dim_max(K, 1), K)
    assert not dim_equal(DimVar("one", 1, 2), 1)


def test_loop_variables_are_compared_by_identity():
    i, j = Var("i", INDEX_TYPE), Var("i", INDEX_TYPE)
    assert normalize_dim(Call(DimAdd(), (i, j))) == normalize_dim(Call(DimAdd(), (j, i)))
    assert not dim_equal(i, j)
    assert evaluate_dim(Call(DimAdd(), (i, j)), {}, {i: 3, j: 4}) == 7


def test_the_order_of_other_scalars_sees_all_of_them():
    def deep(value):
        for _ in range(6):
            value = Call(TupleGetItem(0), (Tuple((value, 1)),))
        return value

    i, j = deep(Var("i", INDEX_TYPE)), deep(Var("j", INDEX_TYPE))
    assert normalize_dim(Call(DimAdd(), (i, j))) == normalize_dim(Call(DimAdd(), (j, i)))


def test_constants_count_as_ints():
    assert normalize_dim(Constant(7, INDEX_TYPE)) == 7
    with pytest.raises(WrongTypeError, match="integer"):
        normalize_dim(Constant(0.5, INDEX_TYPE))


@pytest.mark.parametrize("bad", [True, 1.5, "M", None])
def test_what_is_no_extent_is_refused(bad):
    with pytest.raises(WrongTypeError):
        normalize_dim(bad)
    with pytest.raises(WrongTypeError):
        simplify_dim(DimAdd(), (M, bad))


def test_division_by_zero_is_refused():
    for dim in (M // 0, M % 0, M // (N - N)):
        with pytest.raises(DimSubstitutionError):
            normalize_dim(dim)


def test_simplify_dim_only_constructs():
    assert simplify_dim(DimAdd(), (2, 3)).args == (2, 3)


def test_operators_work_on_both_sides():
    for made, op, args in (
        (2 + M, DimAdd, (2, M)),
        (2 - M, DimSub, (2, M)),
        (2 * M, DimMul, (2, M)),
        (200 // M, DimFloorDiv, (200, M)),
        (200 % M, DimMod, (200, M)),
        ((M + 1) % N, DimMod, (M + 1, N)),
        (3 - (M + 1), DimSub, (3, M + 1)),
    ):
        assert made == Call(op(), args)
    with pytest.raises(TypeError):
        M + 1.5
    with pytest.raises(TypeError):
        (M + 1) * True


def test_dim_vars_and_evaluation():
    dim = (M + N * 2) // K
    assert dim_vars(dim) == {M, N, K}
    assert is_dim_expr(dim)
    assert is_dim_expr(M)
    assert not is_dim_expr(3)
    assert evaluate_dim(dim, {"M": 5, "N": 3, "K": 2}) == 5
    with pytest.raises(DimSubstitutionError, match="'N' has no value"):
        evaluate_dim(dim, {"M": 5, "K": 1})
    assert substitute_dim(dim, {M: 4 * K, N: 0}) == 4


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        ((M + 1) * N - (K - 2), "(M + 1) * N - (K - 2)"),
        (M // (N // 2), "M // (N // 2)"),
        (Call(DimMul(), (M, -3)), "M * (-3)"),
        (dim_min(M, N), "min(M, N)"),
    ],
)
def test_text_is_python_with_the_same_value(dim, text):
    assert format_dim(dim) == text
    for bindings in ({"M": 7, "N": 5, "K": 2}, {"M": 1, "N": 8, "K": 3}):
        assert eval(text, {**bindings, "min": min, "max": max}) == evaluate_dim(dim, bindings)


def test_dim_var_is_one_instance_and_checked():
    assert DimVar("M", 1, 100) is M
    assert DimVar("M", 1, 101) is not M
    for args, kind in (
        (("", 1, 2), TypeError),
        ((" ", 1, 2), ValueError),
        (("seq len", 1, 2), ValueError),
        (("S=1", 1, 2), ValueError),
        (("S\n", 1, 2), ValueError),
        (("X", 1.0, 2), TypeError),
        (("X", True, 2), TypeError),
        (("X", 2, 2), ValueError),
    ):
        with pytest.raises(kind):
            DimVar(*args)


@pytest.mark.parametrize(
    "dim",
    [
        dim_max(-3, N - dim_max(N, M)),
        Call(DimMax(), (M, Call(DimMax(), (M, 4 - M)))),
        Call(DimMax(), (K, Call(DimMod(), (Call(DimMax(), (M, -5)), 8)))),
    ],
)
def test_an_extremum_that_shows_only_after_common_terms_are_out_is_flattened(dim):
    form = normalize_dim(dim)
    assert normalize_dim(form) == form
    assert values(form) == values(dim)


@pytest.mark.parametrize("step", [lambda d: d // 2 + 1, lambda d: d * 2 + 1, lambda d: d + 1], ids="qlc")
def test_dims_may_be_deep_but_not_deeper(step):
    dim = N
    for _ in range(70):
        dim = step(dim)
    assert normalize_dim(normalize_dim(dim)) == normalize_dim(dim)
    assert format_dim(normalize_dim(dim))
    for _ in range(3000):
        dim = step(dim)
    with pytest.raises(WrongValueError, match="at most 200 nested operations"):
        normalize_dim(dim)
