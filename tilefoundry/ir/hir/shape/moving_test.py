"""flip, pad, rank, shape_of: shapes, placements, refusals."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import Flip, Pad, Rank, ShapeOf, Squeeze
from tilefoundry.ir.samples import GROUP, W, call, dynamic, held, value
from tilefoundry.ir.shard import Layout, Partial, Placed
from tilefoundry.ir.types import StorageKind, TensorType, make_tensor_type

N = DimVar("N", 1, 100)
ROW = Placed(8, (GROUP,))
X = held((8, 6), ROW, 6)
SUM, MAX = (held((8, 6), ROW, 6, states=((W, Partial(r)),)) for r in ("sum", "max"))


def test_flip_has_the_shape_and_placement_of_x():
    for x in (value((4, N)), value((0,)), value((1, 1, 3), "bool")):
        assert call(Flip(-1), x).type == x.type
    for x in (X, SUM, MAX):
        assert call(Flip((1,)), x).type == x.type
    tile = Var("x", make_tensor_type((4, 8), "f32", "smem", Layout((4, 8), (16, 1))))
    assert call(Flip((0, 1)), tile).type.layout == Layout((4, 8), (8, 1))


@pytest.mark.parametrize(
    ("shape", "pad", "result"),
    [
        ((4, 6), (1, 2), (4, 9)),
        ((4, 6), (0, 0, 3, 1), (8, 6)),
        ((N,), (2, N), (N + N + 2,)),
        ((0,), (1, 0), (1,)),
        ((4,), (), (4,)),
    ],
)
def test_pad_counts_from_the_last_axis(shape, pad, result):
    assert call(Pad(pad, 1.5), value(shape)).type == value(result).type


def test_padded_values_lie_as_before():
    for x, fill in ((X, 1.0), (X, 0), (SUM, 0), (SUM, 0.0)):
        padded = call(Pad((1, 1), fill), x).type
        assert (padded.shape, padded.layout.shape, padded.layout.attrs) == ((8, 8), (8, 8), x.type.layout.attrs)
    for x, fill in ((SUM, 1.0), (MAX, 0), (MAX, float("-inf"))):
        with pytest.raises(VerifyError, match="cannot pass through"):
            call(Pad((1, 1), fill), x)


@pytest.mark.parametrize("fill", [float("inf"), float("-inf"), float("nan"), 65504.0, -65504, 1e-300])
def test_a_float_holds_what_rounds_to_it(fill):
    assert call(Pad((1, 1), fill), value((4,), "f16")).type.shape == (6,)


def test_pad_values_are_told_apart():
    assert Pad((1, 1)) == Pad((1, 1), 0)
    assert len({Pad((1, 1), v) for v in (0, 0.0, -0.0, False)}) == 4
    assert Pad((1, 1), float("nan")) == Pad((1, 1), float("nan"))


def test_lists_serve_as_tuples():
    """An op is a value: it can be compared and hashed however it was written."""
    for op, same in ((Flip([0, 1]), Flip((0, 1))), (Squeeze([0]), Squeeze((0,))), (Pad([1, 2]), Pad((1, 2)))):
        assert (op, hash(op)) == (same, hash(same))


@pytest.mark.parametrize("x", [value((4, N)), X, SUM, dynamic(X)])
def test_rank_and_shape_of(x):
    assert call(Rank(), x).type == INDEX_TYPE
    assert call(ShapeOf(), x).type == TensorType.umat_tensor((2,))
    assert call(ShapeOf(), value(())).type.shape == (0,)
    assert call(ShapeOf(), x).type.storage is StorageKind.UMAT


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Flip(2), value((4, 4))), "axis 2 is out of range"),
        (lambda: call(Flip((0, -2)), value((4, 4))), "one axis twice"),
        (lambda: call(Flip(0), X), "axis 0 of 'x' is split over the mesh and cannot be reversed"),
        (lambda: call(Flip(1), dynamic(X)), "Dynamic"),
        (lambda: Flip(()), "non-empty"),
        (lambda: Flip(1.0), "axes must be an int"),
        (lambda: call(Pad((0, 0, 1, 1)), X), "axis 0 of 'x' is split over the mesh and cannot be padded"),
        (lambda: call(Pad((1, 1, 1, 1)), value((4,))), "for 2 axes, and .* has 1"),
        (lambda: call(Pad((1, 1), 0.5), value((4,), "i32")), "0.5 is no value of i32"),
        (lambda: call(Pad((1, 1), 300), value((4,), "u8")), "300 is no value of u8"),
        (lambda: call(Pad((1, 1), 1), value((4,), "bool")), "no value of bool"),
        (lambda: call(Pad((1, 1), True), value((4,))), "True is no value of f32"),
        (lambda: call(Pad((1, 1), 0.0), value((4,), "f8e8m0")), "powers of two"),
        (lambda: call(Pad((1, 1), 0), value((4,), "f8e8m0")), "powers of two"),
        (lambda: call(Pad((1, 1), 1e300), value((4,))), r"1e\+300 is no value of f32, which holds up to 3.40282e\+38"),
        (lambda: call(Pad((1, 1), -70000.0), value((4,), "f16")), "-70000 is no value of f16, which holds up to 65504"),
        (lambda: call(Pad((1, 1), 449.0), value((4,), "fp8e4m3")), "holds up to 448"),
        (lambda: call(Pad((1, 1), 1 << 9999), value((4,), "f64")), "an int of 10000 bits is no value of f64"),
        (lambda: call(Pad((1, 1)), dynamic(X)), "Dynamic"),
        (lambda: Pad((1,)), r"one after for each axis"),
        (lambda: Pad((1, -1)), r"none negative(.|\n)*slice"),
        (lambda: Pad(1), "tuple of ints and dims"),
        (lambda: Pad((1 << 63, 0)), "tuple of ints and dims"),
        (lambda: Pad((1, 1), "0"), "value must be a number"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises((VerifyError, TypeError, ValueError), match=words):
        make()
