"""What the rules of ops on windows, views and whole tensors refuse; only passes write these."""

import pytest

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Constant, Tuple, Var
from tilefoundry.ir.tir.ops.index import Gather, IndexUpdate, RowUpdate
from tilefoundry.ir.tir.ops.order import TopK
from tilefoundry.ir.tir.ops.part import Element, GlobalView, StoreScalar
from tilefoundry.ir.tir.ops.tile import WholeCopy, WholeFill, WholeIota
from tilefoundry.ir.types import make_tensor_type


def value(shape, dtype="f32", storage="gmem"):
    return Var("x", make_tensor_type(shape, dtype, storage))


X, ROW, FRAGMENT = value((4, 8)), value((8,)), value((4, 8), storage="rmem")
COUNTS, NUMBERS, TILE = value((8,), "i64"), value((4, 8), "i32", "rmem"), value((4, 8), storage="smem")
ONE, HALF = Constant(1, tir.EXTENT_TYPE), value((), "f32", "rmem")
AT, OVER, NONE = Tuple((ONE, ONE)), Tuple((ONE, ONE)), Tuple(())
LINE = Tuple((ONE,))


def on(op, *args):
    return lambda: op.infer_type(args)


X_WINDOW, ROW_WINDOW, COUNTS_WINDOW = (X, AT, OVER), (ROW, LINE, LINE), (COUNTS, LINE, LINE)
GATHER = Gather(((0, 1), (0,), (0, 1)), False, 0)
UPDATE = IndexUpdate(((0, 1), (0,), (0, 1), (0, 1)), False, 0, True)
TOP = TopK(((0, 1), (0, 1), (0, 1)), False, 1, True)
REFUSED = {
    "starts that are no tuple": (on(GATHER, X, ONE, OVER, *COUNTS_WINDOW, *X_WINDOW), "needs a tuple of starts"),
    "a window of too few axes": (on(GATHER, X, LINE, OVER, *COUNTS_WINDOW, *X_WINDOW), "does not fit its tensor"),
    "a window of a fragment": (
        on(GATHER, FRAGMENT, AT, OVER, *COUNTS_WINDOW, *X_WINDOW),
        "the window of 'src' does not fit its tensor",
    ),
    "floats as indices of a gather": (
        on(GATHER, *X_WINDOW, *ROW_WINDOW, *X_WINDOW),
        "'index' must be integers, got .*f32",
    ),
    "floats as indices of an update": (
        on(UPDATE, *X_WINDOW, *ROW_WINDOW, *X_WINDOW, *X_WINDOW),
        "'index' must be integers, got .*f32",
    ),
    "floats as indices of rows": (on(RowUpdate(0, False), ROW, FRAGMENT, FRAGMENT), "'index' must be integers"),
    "floats as indices in order": (on(TOP, *X_WINDOW, *X_WINDOW, *X_WINDOW), "'indices' must be integers"),
    "a view without a step": (lambda: GlobalView((0, 0), (2, 2), (1,)), "a size and a step for each axis"),
    "a view of a fragment": (on(GlobalView((0,), (2,), (1,)), FRAGMENT, ONE, ONE), "must be a global tensor with axes"),
    "a view with one start": (on(GlobalView((0,), (2,), (1,)), X, ONE), "must have one entry for each axis"),
    "a view of a third axis": (on(GlobalView((2,), (2,), (1,)), X, ONE, ONE), "and 'axes' name them"),
    "an element at one coordinate": (on(Element(), X, ONE), "'coordinates' must have one entry for each axis"),
    "an element of a fragment at one": (on(Element(), FRAGMENT, ONE), "'coordinates' must have one entry"),
    "a scalar stored into a row": (on(StoreScalar(), HALF, ROW), "'tensor' must be a rank-0 output"),
    "a float stored as an int": (on(StoreScalar(), HALF, value((), "i32")), "'value' is f32 and 'tensor' is i32"),
    "a copy between storages": (on(WholeCopy(), TILE, X), "give both one storage"),
    "a copy of a fragment": (on(WholeCopy(), FRAGMENT, X), "'src' must be a whole tensor in smem or gmem"),
    "a fill of a fragment": (on(WholeFill(), HALF, FRAGMENT), "'dst' must be a whole tensor in smem or gmem"),
    "numbers along no axis": (on(WholeIota(2, 1), ONE, value((4, 8), "i32")), "holds no integers along axis 2"),
    "numbers into floats": (on(WholeIota(0, 1), ONE, X), "holds no integers along axis 0"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_the_family_with_a_remedy(what):
    make, words = REFUSED[what]
    with pytest.raises(TileFoundryError, match=words) as caught:
        make()
    assert caught.value.remedy


@pytest.mark.parametrize(
    "make",
    [
        on(GATHER, *X_WINDOW, *COUNTS_WINDOW, *X_WINDOW),
        on(RowUpdate(0, False), NUMBERS, FRAGMENT, FRAGMENT),
        on(GlobalView((1, None), (2, 2), (-1, 0)), X, ONE, ONE),
        on(Element(), X, ONE, ONE),
        on(WholeCopy(), X, X),
        on(WholeIota(1, 1), ONE, value((4, 8), "i32")),
    ],
)
def test_beside_what_is_accepted(make):
    make()
