"""concat, stack, split: shapes, placements, refusals."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Tuple, Var
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.dims import DimVar, dim_mul
from tilefoundry.ir.hir import Concat, Slice, SplitParts, Stack
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, held, number, value
from tilefoundry.ir.shard import Broadcast, ComposedLayout, Layout, Partial, Placed, Split
from tilefoundry.ir.types import make_tensor_type

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)
SUM, MAX = Partial("sum"), Partial("max")
ROW = Placed(8, (GROUP,))
X = held((8, 6), ROW, 6)
WIDE = held((8, 4), ROW, Placed(4, (QUAD,)))
HELD_SUM = held((8, 6), ROW, 6, states=((W, SUM),))
HELD_MAX = held((8, 6), ROW, 6, states=((W, MAX),))


@pytest.mark.parametrize(
    ("axis", "shapes", "result"),
    [
        (0, [(2, 3), (4, 3)], (6, 3)),
        (-1, [(2, 3), (2, 0), (2, 1)], (2, 4)),
        (0, [(N,), (M,), (1,)], (N + M + 1,)),
        (1, [(N, 2), (N, 2)], (N, 4)),
        (0, [(5,)], (5,)),
    ],
)
def test_concat_adds_extents(axis, shapes, result):
    assert call(Concat(axis), *map(value, shapes)).type == value(result).type


def test_stack_adds_an_axis():
    for axis, result in ((0, (2, N, 3)), (1, (N, 2, 3)), (-1, (N, 3, 2))):
        assert call(Stack(axis), value((N, 3)), value((N, 3))).type == value(result).type
    assert call(Stack(), number(1.0), number(2.0)).type.shape == (2,)


def test_joined_values_are_fresh_and_lie_as_their_parts():
    tile = Var("x", make_tensor_type((4, 8), "f32", "smem", Layout((4, 8), (16, 1))))
    assert call(Concat(1), tile, tile).type.layout == Layout((4, 16), (16, 1))
    for op, shape, attrs in (
        (Concat(1), (8, 12), (Broadcast(), Split(0), Broadcast())),
        (Stack(0), (2, 8, 6), (Broadcast(), Split(1), Broadcast())),
        (Stack(2), (8, 6, 2), (Broadcast(), Split(0), Broadcast())),
    ):
        joined = call(op, X, X).type
        assert (joined.shape, joined.layout.shape, joined.layout.attrs) == (shape, shape, attrs)


@pytest.mark.parametrize("op", [Concat(1), Stack(1)])
@pytest.mark.parametrize("held_", [HELD_SUM, HELD_MAX])
def test_partial_values_are_joined_with_their_like(op, held_):
    assert call(op, held_, held_).type.layout.attrs[0] == held_.type.layout.attrs[0]
    for pair in ((held_, X), (X, held_), (HELD_SUM, HELD_MAX)):
        with pytest.raises(VerifyError, match=r"cannot pass through(.|\n)*tf\.reshard"):
            call(op, *pair)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Concat()), "expected at least one tensor"),
        (lambda: call(Stack()), "expected at least one tensor"),
        (lambda: call(Concat(), Tuple((X, X))), "one by one, without brackets"),
        (lambda: call(Concat(), number(1.0)), r"scalars have no axis(.|\n)*tf\.stack"),
        (lambda: call(Concat(2), X, X), "axis 2 is out of range for rank 2"),
        (lambda: call(Stack(3), X, X), "axis 3 is out of range for rank 3"),
        (lambda: call(Concat(), value((2, 3)), value((2, 4))), r"'xs\[0\]' and 'xs\[1\]' along axis 1(.|\n)*3 and 4"),
        (lambda: call(Stack(), value((2, N)), value((2, M))), "cannot prove it for N and M"),
        (lambda: call(Concat(), value((2, 3)), value((6,))), "equal rank"),
        (lambda: call(Stack(), value((2, 3)), value((6,))), "equal rank"),
        (lambda: call(Concat(), value((2,)), value((2,), "bf16")), "dtypes f32 and bf16"),
        (lambda: call(Concat(), value((2,)), value((2,), "f32", "smem")), "conflicting storage"),
        (lambda: call(Concat(0), X, X), r"axis 0 of 'xs\[0\]' is split over the mesh and cannot be joined"),
        (lambda: call(Concat(1), held((8, 4), ROW, 4), WIDE), r"axis 1 of 'xs\[1\]' is split"),
        (lambda: call(Concat(1), held((8, 4), 8, Placed(4, (QUAD,))), X), r"axis 1 of 'xs\[0\]' is split"),
        (lambda: call(Stack(0), X, held((8, 6), 8, Placed(2, ()), 3, states=((W, SUM),))), "placed differently"),
        (lambda: call(Concat(1), X, dynamic(X)), "Dynamic"),
        (lambda: call(Stack(1), dynamic(X), X), "Dynamic"),
        (lambda: Concat(1.0), "concat: axis must be a plain int"),
        (lambda: Stack(True), "stack: axis must be a plain int"),
    ],
)
def test_what_cannot_be_joined_is_refused(make, words):
    with pytest.raises((VerifyError, TypeError), match=words):
        make()


def test_split_gives_the_types_of_its_windows():
    assert call(SplitParts(1, 3), value((2, 6))).type == TupleType((value((2, 2)).type,) * 3)
    assert call(SplitParts(-1, 2), value((2, dim_mul(N, 4)))).type == TupleType((value((2, dim_mul(N, 2))).type,) * 2)
    tile = Var("x", make_tensor_type((4, 8), "f32", "smem", Layout((4, 8), (8, 1))))
    first, second = call(SplitParts(0, 2), tile).type.fields
    assert first.layout == Layout((2, 8), (8, 1))
    assert second.layout == ComposedLayout(None, 16, Layout((2, 8), (8, 1)))
    assert second == call(Slice((2, 8)), tile, Tuple((2, 0))).type
    for x in (X, HELD_SUM, HELD_MAX):
        part = call(SplitParts(1, 2), x).type.fields[1]
        assert (part.shape, part.layout.attrs) == ((8, 3), x.type.layout.attrs)
    assert call(SplitParts(0, 1), X).type.fields == (X.type,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(SplitParts(0, 4), value((6,))), "extent 6 does not divide into 4 equal parts"),
        (lambda: call(SplitParts(0, 2), value((N,))), "cannot prove that axis 0 of extent N divides"),
        (lambda: call(SplitParts(1, 2), value((4,))), "axis 1 is out of range"),
        (lambda: call(SplitParts(0, 2), X), "axis 0 of 'x' is split over the mesh and cannot be taken in parts"),
        (lambda: call(SplitParts(1, 2), dynamic(X)), "Dynamic"),
        (lambda: SplitParts(0, 0), "at least 1"),
        (lambda: SplitParts(0, 2.0), "num_splits must be a plain int"),
    ],
)
def test_what_does_not_split_is_refused(make, words):
    with pytest.raises((VerifyError, TypeError, ValueError), match=words):
        make()
