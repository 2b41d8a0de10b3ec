"""Loops: what their value is, and which iterations they make."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Call, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import BinaryKind, GridRegionExpr, TupleGetItem
from tilefoundry.ir.samples import binary
from tilefoundry.ir.types import TupleType, make_tensor_type

N = DimVar("N", 1, 9)
T4, T8 = make_tensor_type((4,), "f32"), make_tensor_type((8,), "bf16")
X, Y = Var("x", T4), Var("y", T8)


def loop(carries, **bounds):
    """A loop that doubles what it carries."""
    args = tuple(Var(v.name, v.type) for v in carries)
    bounds = {"extent": 4, **bounds}
    values = tuple(binary(BinaryKind.ADD, a, a) for a in args)
    return GridRegionExpr(Var("i", INDEX_TYPE), args, tuple(carries), None, values, **bounds)


def test_one_carry_is_a_tensor_and_several_are_a_tuple():
    assert loop([X]).type == T4
    both = loop([X, Y])
    assert both.type == TupleType((T4, T8))
    assert [Call(TupleGetItem(k), (both,)).type for k in range(2)] == [T4, T8]


def test_without_carries_the_value_is_that_of_the_last_body():
    i = Var("i", INDEX_TYPE)
    assert GridRegionExpr(i, (), (), binary(BinaryKind.ADD, X, X), (), 4).type == T4
    assert GridRegionExpr(i, (), (), Tuple((X, Y)), (), 4).type == TupleType((T4, T8))


def test_bounds_are_half_open_and_start_at_zero_by_steps_of_one():
    default = loop([X])
    assert (default.start, default.extent, default.step, default.spread) == (0, 4, 1, None)
    ranged = loop([X], start=2, extent=N * 2, step=3)
    assert (ranged.start, ranged.extent, ranged.step) == (2, N * 2, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: loop([X], step=0), "step must be at least 1"),
        (lambda: loop([X], step=-1), "step must be at least 1"),
        (lambda: loop([X], extent=1.5), "extent must be an int or a scalar index, got 1.5"),
        (lambda: loop([X], start=X), "start must be an int or a scalar index"),
        (lambda: GridRegionExpr(Var("i", T4), (), (), X, (), 4), "induction"),
        (lambda: GridRegionExpr(N, (), (), X, (), 4), "induction variable must be a Var"),
        (lambda: GridRegionExpr(Var("i", INDEX_TYPE), (X,), (X,), None, (), 4), "one of each for every carry"),
        (lambda: GridRegionExpr(Var("i", INDEX_TYPE), (N,), (N,), None, (N,), 4), "carried_args must be Vars"),
        (lambda: GridRegionExpr(Var("i", INDEX_TYPE), (), (), None, (), 4), "body"),
    ],
)
def test_malformed_loops_are_refused(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()
