"""index_add, index_copy, scatter_add: shapes, placements, refusals."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import IndexAdd, IndexCopy, ScatterAdd
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, held, value
from tilefoundry.ir.shard import ComposedLayout, Layout, Partial, Placed
from tilefoundry.ir.types import make_tensor_type

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)
SUM = ((W, Partial("sum")),)
ROW, PAIR = Placed(8, (GROUP,)), Placed(4, (QUAD,))
DST, SRC = held((6, 8), 6, ROW), held((3, 8), 3, ROW)
AT = value((3,), "i64", "rmem")
ROWS = (IndexAdd, IndexCopy)


def index(shape, *entries, states=()):
    return held(shape, *entries, states=states, dtype="i64")


@pytest.mark.parametrize("op", ROWS)
@pytest.mark.parametrize(
    ("dst", "count", "src", "dim"),
    [((6, 8), 3, (3, 8), 0), ((6, N), M, (6, M), -1), ((6,), 0, (0,), 0), ((1, 1), 4, (4, 1), 0)],
)
def test_updated_rows_leave_the_type(op, dst, count, src, dim):
    for kind in ("i32", "i64"):
        assert (
            call(op(dim), value(dst, "bf16"), value((count,), kind), value(src, "bf16")).type == value(dst, "bf16").type
        )
    assert call(op(0), DST, AT, SRC).type == DST.type


def test_an_updated_window_is_a_fresh_value():
    window = Var("x", make_tensor_type((6,), "f32", "smem", ComposedLayout(None, 4, Layout((6,), (2,)))))
    result = call(IndexCopy(0), window, value((3,), "i64", "smem"), value((3,), "f32", "smem")).type
    assert result.layout == Layout((6,), (1,))


@pytest.mark.parametrize("op", ROWS)
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((value((6, 8)), value((3,), "f32"), value((3, 8))), "'index' must be of i32 or i64"),
        ((value((6, 8)), value((3, 1), "i32"), value((3, 8))), "'index' must have rank 1"),
        ((value((6, 8)), value((3,), "i32"), value((3,))), "'src' must have rank 2"),
        ((value((6, 8)), value((3,), "i32"), value((4, 8))), "'src' along axis 0 and of 'index' must be equal"),
        ((value((6, 8)), value((3,), "i32"), value((3, 7))), "'src' along axis 1 and of 'dst' along axis 1"),
        ((value((6, N)), value((3,), "i32"), value((3, M))), "cannot prove it for M and N"),
        ((value((6, 8)), value((3,), "i32"), value((3, 8), "bf16")), "dtypes f32 and bf16"),
        ((value((6, 8)), value((3,), "i32", "smem"), value((3, 8))), "conflicting storage"),
        ((held((8, 8), ROW, 8), AT, held((3, 8), 3, PAIR, 2)), "axis 0 of 'dst' is split"),
        ((DST, AT, held((4, 8), PAIR, 8)), "extents of 'src' along axis 0"),
        ((held((6, 8), 6, ROW), index((4,), PAIR), held((4, 8), 4, ROW)), "axis 0 of 'index' is split"),
        ((held((6, 8), 6, ROW), value((4,), "i64", "rmem"), held((4, 8), PAIR, ROW)), "axis 0 of 'src' is split"),
        ((DST, AT, held((3, 8), 3, PAIR, 2)), "placed differently"),
        ((held((6, 8), 6, ROW, states=SUM), AT, held((3, 8), 3, ROW, states=SUM)), "cannot pass through"),
        ((DST, AT, held((3, 8), 3, ROW, states=SUM)), "cannot pass through"),
        ((DST, index((3,), 3, states=SUM), SRC), "cannot pass through"),
        ((dynamic(DST), AT, SRC), "Dynamic"),
        ((DST, dynamic(index((3,), 3, states=SUM)), SRC), "Dynamic"),
        ((DST, AT, dynamic(SRC)), "Dynamic"),
    ],
)
def test_rows_that_do_not_fit_are_refused(op, args, words):
    with pytest.raises(VerifyError, match=words):
        call(op(0), *args)


def test_what_has_no_sum_is_not_added():
    for dtype in ("bool", "fp8e4m3"):
        x, i = value((4,), dtype), value((4,), "i64")
        assert call(IndexCopy(0), x, i, x).type == x.type
        for op in (IndexAdd(0), ScatterAdd(0)):
            with pytest.raises(VerifyError, match=f"elements of {dtype} are not added"):
                call(op, x, i, x)


@pytest.mark.parametrize("op", [*ROWS, ScatterAdd])
def test_attributes(op):
    with pytest.raises(TypeError, match="dim must be a plain int"):
        op("0")
    with pytest.raises(VerifyError, match="axis 1 is out of range"):
        call(op(1), value((4,)), value((4,), "i64"), value((4,)))


@pytest.mark.parametrize(
    ("dst", "at", "src", "dim"),
    [((6, 8), (3, 8), (3, 8), 0), ((6, 8), (2, 5), (3, 5), 0), ((6, N), (6, M), (6, M), -1), ((4,), (0,), (0,), 0)],
)
def test_scatter_add(dst, at, src, dim):
    assert call(ScatterAdd(dim), value(dst, "f16"), value(at, "i32"), value(src, "f16")).type == value(dst, "f16").type


def test_scatter_add_where_all_lie_alike():
    assert call(ScatterAdd(0), DST, index((3, 8), 3, ROW), SRC).type == DST.type


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((value((6, 8)), value((3, 8), "f32"), value((3, 8))), "'index' must be of i32 or i64"),
        ((value((6, 8)), value((3,), "i32"), value((3, 8))), "'index' must have rank 2"),
        ((value((6, 8)), value((3, 8), "i32"), value((3,))), "'src' must have rank 2"),
        ((value((6, 8)), value((4, 8), "i32"), value((3, 8))), "axis 0 is 4, expected at most 3"),
        ((value((6, 8)), value((3, 9), "i32"), value((3, 9))), "axis 1 is 9, expected at most 8"),
        ((value((6, N)), value((3, M), "i32"), value((3, M))), "cannot prove that the extent of 'index' along axis 1"),
        ((value((6, 8)), value((3, 8), "i32"), value((3, 8), "f16")), "dtypes f32 and f16"),
        ((held((8, 8), ROW, 8), index((3, 8), 3, PAIR, 2), held((3, 8), 3, PAIR, 2)), "axis 0 of 'dst' is split"),
        ((DST, index((3, 4), 3, PAIR), SRC), "axis 1 of 'dst' is split"),
        ((DST, index((3, 8), 3, PAIR, 2), SRC), "placed differently"),
        ((DST, index((3, 8), 3, ROW), held((3, 8), 3, ROW, states=SUM)), "cannot pass through"),
        ((held((6, 8), 6, ROW, states=SUM), index((3, 8), 3, ROW), SRC), "cannot pass through"),
        ((dynamic(DST), index((3, 8), 3, ROW), SRC), "Dynamic"),
        ((DST, dynamic(index((3, 8), 3, ROW)), SRC), "Dynamic"),
        ((DST, index((3, 8), 3, ROW), dynamic(SRC)), "Dynamic"),
    ],
)
def test_scatter_add_refuses(args, words):
    with pytest.raises(VerifyError, match=words):
        call(ScatterAdd(0), *args)
