"""expand, squeeze, unsqueeze, repeat_interleave: shapes, placements, refusals."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import DimVar, dim_mul
from tilefoundry.ir.hir import Expand, RepeatInterleave, Reshape, Squeeze, Unsqueeze
from tilefoundry.ir.samples import GROUP, W, call, dynamic, held, value
from tilefoundry.ir.shard import Broadcast, Layout, Partial, Placed, Split
from tilefoundry.ir.types import make_tensor_type

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)
ROW = Placed(8, (GROUP,))
X = held((8, 1, 6), ROW, 1, 6)
HELD = held((8, 1, 6), ROW, 1, 6, states=((W, Partial("sum")),))


@pytest.mark.parametrize(
    ("shape", "new", "result"),
    [
        ((3, 1), (3, 4), (3, 4)),
        ((3, 1), (2, -1, 4), (2, 3, 4)),
        ((), (2, 3), (2, 3)),
        ((1, N), (M, N), (M, N)),
        ((N,), (4, -1), (4, N)),
        ((1,), (0,), (0,)),
        ((2, 1), (2, 1), (2, 1)),
    ],
)
def test_expand(shape, new, result):
    assert call(Expand(new), value(shape)).type == value(result).type


@pytest.mark.parametrize("x", [X, HELD])
def test_expand_carries_splits_and_partial_values(x):
    wide = call(Expand((2, -1, 5, 6)), x).type
    assert (wide.shape, wide.layout.shape) == ((2, 8, 5, 6), (2, 8, 5, 6))
    assert wide.layout.attrs == (x.type.layout.attrs[0], Split(1), Broadcast())


@pytest.mark.parametrize(
    ("shape", "axis", "result"), [((3, 1, 4), 1, (3, 4)), ((1, N, 1), (0, -1), (N,)), ((1,), 0, ())]
)
def test_squeeze_and_unsqueeze_are_reshapes(shape, axis, result):
    assert call(Squeeze(axis), value(shape)).type == call(Reshape(result), value(shape)).type
    assert call(Unsqueeze(-1), value(shape)).type.shape == (*value(shape).type.shape, 1)
    assert call(Unsqueeze(0), value(shape)).type.shape == (1, *value(shape).type.shape)


def test_squeeze_and_unsqueeze_are_views():
    tile = Var("x", make_tensor_type((4, 1, 8), "f32", "smem", Layout((4, 1, 8), (16, 8, 1))))
    assert call(Squeeze(1), tile).type.layout == Layout((4, 8), (16, 1))
    assert call(Unsqueeze(1), call(Squeeze(1), tile)).type.layout == Layout((4, 1, 8), (16, 0, 1))
    for x in (X, HELD):
        flat = call(Squeeze(1), x).type
        assert (flat.shape, flat.layout.attrs) == ((8, 6), x.type.layout.attrs)
        assert call(Unsqueeze(1), Var("x", flat)).type == x.type


def test_repeat_interleave():
    assert call(RepeatInterleave(3, 1), value((2, N))).type == value((2, dim_mul(N, 3))).type
    assert call(RepeatInterleave(0, -1), value((2, 4))).type == value((2, 0)).type
    tile = Var("x", make_tensor_type((4, 8), "f32", "smem", Layout((4, 8), (16, 1))))
    assert call(RepeatInterleave(2, 0), tile).type.layout == Layout((8, 8), (8, 1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Expand((3,)), value((3, 1))), "lacks some of the 2 axes"),
        (lambda: call(Expand((4, 4)), value((3, 1))), "of axis 0, must be equal: they are 3 and 4"),
        (lambda: call(Expand((M,)), value((N,))), "cannot prove it for N and M"),
        (lambda: call(Expand((-1, 3)), value((3,))), "the extent of axis 0 is -1"),
        (lambda: call(Expand((-2,)), value((1,))), "the extent of axis 0 is -2"),
        (lambda: call(Expand((8, 2, 6)), dynamic(X)), "Dynamic"),
        (lambda: Expand(("a",)), "new_shape must be a tuple of ints and dims"),
        (lambda: call(Squeeze(0), value((3, 1))), "axis 0 of .* has extent 3, expected 1"),
        (lambda: call(Squeeze(0), value((N, 1))), "has extent N, expected 1"),
        (lambda: call(Squeeze(2), value((3, 1))), "axis 2 is out of range"),
        (lambda: call(Squeeze((0, -2)), value((1, 1))), "one axis twice"),
        (lambda: Squeeze(()), "non-empty tuple"),
        (lambda: Squeeze("0"), "axis must be an int"),
        (lambda: call(Unsqueeze(3), value((3, 1))), "axis 3 is out of range for rank 3"),
        (lambda: Unsqueeze((0,)), "plain int"),
        (lambda: call(RepeatInterleave(2, 0), X), r"spread over a mesh(.|\n)*repeat before tf\.reshard"),
        (lambda: call(RepeatInterleave(2, 1), HELD), "spread over a mesh"),
        (lambda: call(RepeatInterleave(2, 1), dynamic(X)), "spread over a mesh"),
        (lambda: call(RepeatInterleave(2, 2), value((2, 2))), "axis 2 is out of range"),
        (lambda: RepeatInterleave(-1, 0), "must not be negative"),
        (lambda: RepeatInterleave(1.5, 0), "repeats must be a plain int"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises((VerifyError, TypeError, ValueError), match=words):
        make()
