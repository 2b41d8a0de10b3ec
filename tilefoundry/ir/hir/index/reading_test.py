"""index_select and gather: shapes, placements, refusals."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Gather, IndexSelect
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, held, number, value
from tilefoundry.ir.shard import Broadcast, Partial, Placed, Split

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)
SUM, MAX = Partial("sum"), Partial("max")
WARPS, ROW, PAIR = Placed(4, (W,)), Placed(8, (GROUP,)), Placed(4, (QUAD,))
ALL = held((8, 4), 8, 4, states=((W, SUM),))
B, S0, S1 = Broadcast(), Split(0), Split(1)


def index(shape, *entries, states=()):
    return held(shape, *entries, states=states, dtype="i64") if entries else value(shape, "i64")


@pytest.mark.parametrize(
    ("shape", "count", "dim", "result"),
    [((5, 3), 2, 0, (2, 3)), ((5, N), M, -1, (5, M)), ((5,), 0, 0, (0,)), ((0, 3), 0, 0, (0, 3)), ((1,), 7, 0, (7,))],
)
def test_index_select(shape, count, dim, result):
    for dtype in ("i32", "i64"):
        assert call(IndexSelect(dim), value(shape, "bf16"), value((count,), dtype)).type == value(result, "bf16").type


@pytest.mark.parametrize(
    ("x", "i", "dim", "attrs"),
    [
        (held((8, 4), ROW, 4), index((4,), WARPS), 1, (S1, S0, B)),
        (held((8, 4), ROW, 4), value((3,), "i64", "rmem"), 0, (B, SUM, B)),  # rows that no unit holds alone
        (held((8, 4), ROW, PAIR), value((3,), "i64", "rmem"), 1, (B, S0, SUM)),
        (held((8, 4), ROW, 4, states=((W, MAX),)), value((3,), "i64", "rmem"), 1, (MAX, S0, B)),
    ],
)
def test_where_selected_rows_lie(x, i, dim, attrs):
    assert call(IndexSelect(dim), x, i).type.layout.attrs == attrs


@pytest.mark.parametrize(
    ("shape", "i", "dim", "result"),
    [
        ((5, 3), (5, 7), 1, (5, 7)),
        ((5, 3), (2, 3), 0, (2, 3)),
        ((5, 3), (4, 2), 0, (4, 2)),
        ((N, 4), (N, M), -1, (N, M)),
    ],
)
def test_gather_has_the_shape_of_its_index(shape, i, dim, result):
    assert call(Gather(dim), value(shape, "f16"), index(i)).type == value(result, "f16").type


@pytest.mark.parametrize(
    ("x", "i", "dim", "attrs"),
    [
        (held((8, 6), ROW, 6), index((8, 4), ROW, PAIR), 1, (B, S0, S1)),
        (held((8, 4), ROW, PAIR), index((8, 2), ROW, 2), 1, (B, S0, SUM)),
        (held((8, 6), 8, 6, states=((W, MAX),)), index((8, 4), 8, PAIR), 1, (MAX, B, S1)),
        (held((9, 4), 9, 4, states=((W, MAX),)), index((8, 4), ROW, 4), 1, (MAX, S0, B)),
    ],
)
def test_where_gathered_elements_lie(x, i, dim, attrs):
    assert call(Gather(dim), x, i).type.layout.attrs == attrs


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(IndexSelect(2), value((2, 2)), index((3,))), "axis 2 is out of range"),
        (lambda: call(IndexSelect(0), value((2, 2)), index((3, 1))), "'index' must have rank 1"),
        (lambda: call(IndexSelect(0), value((2, 2)), value((3,), "f32")), "'index' must be of i32 or i64, got f32"),
        (lambda: call(IndexSelect(0), value((2, 2)), number(1, "i32")), "'index' must have rank 1"),
        (lambda: call(IndexSelect(0), value((2, 2)), value((3,), "i8")), "i32 or i64"),
        (lambda: call(IndexSelect(0), number(1.0), index((3,))), "out of range for rank 0"),
        (lambda: call(IndexSelect(0), value((2, 2)), value((3,), "i32", "smem")), "conflicting storage"),
        (
            lambda: call(IndexSelect(0), held((8,), ROW, dtype="bool"), index((8,), 8, states=((W, SUM),))),
            "partial sums",
        ),
        (lambda: call(IndexSelect(1), ALL, index((4,), WARPS)), "splits two axes|cannot pass through"),
        (lambda: call(IndexSelect(1), held((8, 4), ROW, 4), index((2,), 2, states=((W, SUM),))), "cannot pass through"),
        (lambda: call(IndexSelect(1), held((8, 4), ROW, 4), index((8,), ROW)), "splits two axes"),
        (lambda: call(IndexSelect(0), dynamic(ALL), index((4,), WARPS)), "Dynamic"),
        (lambda: call(IndexSelect(0), ALL, dynamic(index((4,), WARPS))), "Dynamic"),
        (lambda: IndexSelect(None), "dim must be a plain int"),
        (lambda: call(Gather(1), value((5, 3)), index((6, 2))), "'index' along axis 0 is 6, expected at most 5"),
        (lambda: call(Gather(1), value((N, 3)), index((M, 2))), "cannot prove that the extent of 'index' along axis 0"),
        (lambda: call(Gather(1), value((5, 3)), index((5,))), "'index' must have rank 2"),
        (lambda: call(Gather(1), held((8, 4), ROW, 4), index((4, 4), WARPS, 4)), "axis 0 of 'x' is split"),
        (lambda: call(Gather(1), ALL, index((8, 4), 8, 4, states=((W, SUM),))), "cannot pass through"),
        (lambda: call(Gather(1), dynamic(ALL), index((8, 4), ROW, 4)), "Dynamic"),
        (lambda: call(Gather(1), ALL, dynamic(index((8, 4), ROW, 4))), "Dynamic"),
        (lambda: call(Gather(1), held((8, 4), 8, PAIR, dtype="bool"), index((8, 4), ROW, 4)), "partial sums"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises((VerifyError, TypeError), match=words):
        make()


def test_what_one_operand_splits_and_the_other_holds_whole_is_split():
    t = call(Gather(1), held((8, 4), ROW, 4), index((8, 4), 8, WARPS)).type
    assert t.layout.shape == held((8, 4), ROW, WARPS).type.layout.shape
    assert t.layout.attrs == held((8, 4), ROW, WARPS).type.layout.attrs
