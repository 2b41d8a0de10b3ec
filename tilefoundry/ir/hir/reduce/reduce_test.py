"""Types of what is reduced along axes."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import ArgMax, ArgMin, CumSum, Quant, Reduce, ReduceKind, Sort, TopK
from tilefoundry.ir.samples import GROUP, QUAD, W, call, held, value
from tilefoundry.ir.shard import Broadcast, Layout, Placed, ShardLayout, Split
from tilefoundry.ir.types import DType, StorageKind

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)
TILE = held((64, 64), Placed(4, (W,)), 2, Placed(8, (GROUP,)), 8, Placed(4, (QUAD,)), 2)


def test_reduce_collapses_the_axis_and_completes():
    for kind in ReduceKind:
        tile = held((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2, dtype="bool") if kind.is_logical else TILE
        kept = call(Reduce((-1,), True, kind), tile).type
        assert kept.shape == (64, 1)
        assert kept.layout == ShardLayout(
            Layout((4, 2, 8, 1), (0, 1, 0, 0)), (Split(0), Split(2), Broadcast()), tile.type.layout.mesh
        )
    assert call(Reduce((1,), False, ReduceKind.SUM), TILE).type.layout.shape == (4, 2, 8)
    everything = call(Reduce((0, 1), False, ReduceKind.MAX), TILE).type
    assert (everything.shape, everything.layout.shape) == ((), ())
    assert call(Reduce((0,), True, ReduceKind.SUM), TILE).type.layout.attrs == (Broadcast(), Broadcast(), Split(2))


ROWS = (Placed(4, (W,)), 2, Placed(8, (GROUP,)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Reduce((2,)), value((2, 2))), "axis 2 is out of range for rank 2"),
        (lambda: call(Reduce((0, -2)), value((2, 2))), "one axis twice"),
        (lambda: call(Reduce((0,)), value((2, 2), "i32")), "mean needs a float"),
        (lambda: call(Reduce((0,), True, ReduceKind.SUM), value((2, 2), "bool")), "does not accept a bool"),
        (lambda: call(Reduce((0,), True, ReduceKind.ANY), value((2, 2))), "any needs a bool"),
        (lambda: Reduce(()), "non-empty"),
        (lambda: Reduce((0,), 1), "keepdim"),
        (lambda: Reduce((0,), True, "sum"), "ReduceKind"),
        (lambda: call(ArgMax(2), value((2, 2))), "axis 2 is out of range"),
        (lambda: call(ArgMax(), value(())), "out of range for rank 0"),
        (lambda: call(ArgMin(0), value((0, 2))), "empty and has no least element"),
        (lambda: call(ArgMax(), value((2,), "bool")), "does not accept a bool"),
        (lambda: call(ArgMax(), TILE), "axis 1 of 'x' is split over the mesh and cannot be searched"),
        (lambda: ArgMax(0.0), "axis must be a plain int"),
        (lambda: call(TopK(5), value((2, 4))), "k = 5 exceeds axis 1 of extent 4"),
        (lambda: call(TopK(N + 1), value((2, N))), r"k = .*N.* exceeds axis 1"),
        (lambda: TopK(-1), "k must not be negative"),
        (lambda: TopK(True), "k must be an int or a dim"),
        (lambda: TopK(1, largest=1), "largest must be a bool"),
        (lambda: TopK(1, sorted=None), "sorted must be a bool"),
        (lambda: call(TopK(1), TILE), "cannot be searched"),
        (lambda: call(Sort(), TILE), "cannot be sorted"),
        (lambda: Sort(descending=0), "descending must be a bool"),
        (lambda: call(CumSum(0), TILE), "axis 0 of 'x' is split over the mesh and cannot be summed"),
        (lambda: call(CumSum(), value((2,), "bool")), "does not accept a bool"),
        (lambda: call(Quant(), value((2, 100))), "not known to be a multiple of the group, 128"),
        (lambda: call(Quant(), value((2, N))), "not known to be a multiple of the group, 128: its extent is N"),
        (lambda: call(Quant(), value((2, 128), "i32")), "must be of f16, bf16, f32 or f64, got i32"),
        (lambda: Quant("per_tensor"), "unknown scheme 'per_tensor'"),
        (lambda: Quant(group=0), "group must be 1 or more"),
        (lambda: Quant(target="bf16"), "target must be fp8e4m3"),
    ],
)
def test_refusals(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()


def test_shapes_and_dtypes():
    assert call(Reduce((0, -1), True, ReduceKind.SUM), value((2, N, 4))).type.shape == (1, N, 1)
    for op in (ArgMax(1), ArgMin(-2)):
        assert call(op, value((2, N, 4), "bf16")).type == value((2, 4), "i64").type
    assert call(TopK(3), value((2, 4), "f16")).type.fields == (value((2, 3), "f16").type, value((2, 3), "i64").type)
    assert [t.shape for t in call(TopK(M, axis=0), value((N, 4))).type.fields] == [(M, 4)] * 2
    assert call(Sort(0), value((2, N), "i32")).type.fields == (value((2, N), "i32").type, value((2, N), "i64").type)
    assert call(CumSum(), value((2, N), "i8")).type == value((2, N), "i8").type
    q, scale = call(Quant(), value((N, 256), "bf16")).type.fields
    assert (q, scale) == (value((N, 256), "fp8e4m3").type, value((N, 2)).type)
    _, scale = call(Quant(group=8), value((2, 8 * N))).type.fields
    assert scale.shape == (2, N)


def test_other_axes_stay_split():
    for op in (ArgMax(), ArgMin()):
        t = call(op, held((64, 8), *ROWS, 8)).type
        assert (t.shape, t.dtype, t.storage) == ((64,), DType.i64, StorageKind.RMEM)
        assert t.layout.attrs == (Split(0), Split(2), Broadcast())
    values, places = call(TopK(3), held((64, 8), *ROWS, 8)).type.fields
    assert values.layout == places.layout
    assert (values.layout.shape, values.layout.layout.strides) == ((4, 2, 8, 3), (0, 3, 0, 1))
    ordered, _ = call(Sort(), held((64, 8), *ROWS, 8)).type.fields
    assert ordered == held((64, 8), *ROWS, 8).type
    assert call(CumSum(), held((64, 8), *ROWS, 8)).type == held((64, 8), *ROWS, 8).type


def test_groups_of_quant():
    tile = held((64, 64), *ROWS, Placed(4, (QUAD,)), 16)
    q, scale = call(Quant(group=16), tile).type.fields
    assert (q.shape, q.layout) == (tile.type.shape, tile.type.layout)
    assert (scale.shape, scale.layout.shape) == ((64, 4), (4, 2, 8, 4))
    assert scale.layout.attrs == tile.type.layout.attrs
    # units along 'quad' hold parts of each group, and all get its scale
    _, scale = call(Quant(group=64), tile).type.fields
    assert scale.layout.attrs == (Split(0), Split(2), Broadcast())
    with pytest.raises(VerifyError, match="straddle"):
        call(Quant(group=32), held((64, 96), *ROWS, Placed(4, (QUAD,)), 24))
