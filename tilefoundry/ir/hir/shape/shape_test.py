import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_mul
from tilefoundry.ir.hir import Arange, InsertSlice, Reshape, Slice, Transpose, TupleGetItem, Zeros
from tilefoundry.ir.hir.shape.insert_slice import update_axes
from tilefoundry.ir.samples import GROUP, QUAD, THREADS, W, call
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Layout,
    Partial,
    Placed,
    ShardLayout,
    Split,
    layout_from_sugar,
    make_mesh,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import TensorType, make_tensor_type

N = DimVar("N", 1, 100)
I = Var("i", INDEX_TYPE)  # noqa: E741


def var(shape, dtype="f32", storage="gmem", layout=None):
    return Var("x", make_tensor_type(shape, dtype, storage, layout))


def placed(shape, *entries):
    sl = layout_from_sugar(entries)
    return var(shape, "f32", "rmem", with_strides(sl, per_unit_strides(sl)))


ROWS = (Placed(4, (W,)), 2, Placed(8, (GROUP,)))
TILE = placed((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2)
MATRIX = var((64, 32), storage="smem", layout=Layout((64, 32), (32, 1)))


# -- transpose


def test_transpose_permutes_shape_strides_and_splits():
    assert call(Transpose((1, 0)), MATRIX).type.layout == Layout((32, 64), (1, 32))
    assert call(Transpose((1, 0)), var((N, 4))).type == var((4, N)).type
    turned = call(Transpose((-1, 0)), TILE).type.layout
    assert turned.layout == Layout((8, 4, 2, 4, 2, 8), (2, 0, 1, 0, 16, 0))
    assert turned.attrs == (Split(3), Split(5), Split(1))
    window = var((4, 4), storage="smem", layout=ComposedLayout(None, 8, Layout((4, 4), (32, 1))))
    assert call(Transpose((1, 0)), window).type.layout == ComposedLayout(None, 8, Layout((4, 4), (1, 32)))
    assert call(Transpose((1, 0)), call(Transpose((1, 0)), TILE)).type == TILE.type


@pytest.mark.parametrize("perm", [(0,), (0, 0), (0, 2), (0, 1, 2)])
def test_what_is_no_permutation_is_refused(perm):
    with pytest.raises(VerifyError):
        call(Transpose(perm), MATRIX)


# -- reshape


@pytest.mark.parametrize(
    ("shape", "new", "result"),
    [((64, 32), (-1,), (2048,)), ((N, 4), (2, -1, 2), (2, N, 2)), ((N, 4), (N, -1), (N, 4)), ((0, 4), (-1, 4), (0, 4))],
)
def test_reshape_works_out_one_extent(shape, new, result):
    assert call(Reshape(new), var(shape)).type == var(result).type


@pytest.mark.parametrize(
    ("shape", "new"), [((64, 32), (2048,)), ((N, 4), (N * 4,)), ((4,), (4, 1)), ((), (1,)), ((0, 3), (7, 0))]
)
def test_reshape_of_open_layouts(shape, new):
    assert call(Reshape(new), var(shape)).type == var(new).type


def test_reshape_is_a_view():
    assert call(Reshape((2048,)), MATRIX).type.layout == Layout((2048,), (1,))
    padded = var((64, 32), storage="smem", layout=Layout((64, 32), (40, 1)))
    assert call(Reshape((8, 8, 4, 8)), padded).type.layout == Layout((8, 8, 4, 8), (320, 40, 8, 1))
    with pytest.raises(VerifyError, match=r"has no view(.|\n)*tf\.reshard"):
        call(Reshape((2048,)), padded)
    with pytest.raises(VerifyError, match="has no view"):
        call(Reshape((2048,)), call(Transpose((1, 0)), MATRIX))
    window = var((4, 4), storage="smem", layout=ComposedLayout(None, 8, Layout((4, 4), (4, 1))))
    assert call(Reshape((16,)), window).type.layout == ComposedLayout(None, 8, Layout((16,), (1,)))


def test_reshape_carries_placements_whose_modes_stay_whole():
    row = placed((64,), 8, Placed(4, (QUAD,)), 2)
    column = call(Reshape((64, 1)), row).type
    assert column.layout.layout == Layout((8, 4, 2, 1), (2, 0, 1, 0))
    assert column.layout.attrs == (Broadcast(), Broadcast(), Split(1))
    assert call(Reshape((64,)), Var("c", column)).type == row.type
    assert call(Reshape((8, 8)), row).type.layout.layout == row.type.layout.layout
    split = call(Reshape((4, 16, 64)), TILE).type.layout
    assert (split.shape, split.attrs) == (TILE.type.layout.shape, TILE.type.layout.attrs)
    with pytest.raises(VerifyError, match="do not stay whole"):
        call(Reshape((16, 4)), placed((64,), 8, Placed(8, (GROUP,))))


@pytest.mark.parametrize(
    ("entries", "shape", "new", "modes", "splits"),
    [
        ((Placed(8, (GROUP,)), 8), (64,), (16, 4), (8, 2, 4), {1: 0}),
        ((Placed(8, (GROUP,)), 8), (64,), (8, 2, 2, 2), (8, 2, 2, 2), {1: 0}),
        ((4, 6, Placed(8, (GROUP,))), (4, 48), (2, 96), (2, 12, 8), {1: 2}),
        ((6, Placed(4, (W,)), Placed(4, (QUAD,)), 2), (6, 32), (2, 3, 4, 8), (2, 3, 4, 4, 2), {0: 2, 2: 3}),
        ((Placed(4, (W,)), 1, 6), (4, 6), (2, 1, 12), None, {}),
        ((8, Placed(8, (GROUP,))), (64,), (4, 16), (4, 2, 8), {1: 2}),
    ],
)
def test_reshape_cuts_what_is_not_split(entries, shape, new, modes, splits):
    x = placed(shape, *entries)
    if modes is None:
        with pytest.raises(VerifyError, match="do not stay whole"):
            call(Reshape(new), x)
        return
    result = call(Reshape(new), x).type
    attrs = tuple(Split(splits[axis]) if axis in splits else Broadcast() for axis in range(3))
    assert (result.shape, result.layout.shape, result.layout.attrs) == (new, modes, attrs)
    assert result.layout.layout.strides == per_unit_strides(result.layout)
    assert call(Reshape(shape), Var("x", result)).type.layout.attrs != ()


def test_reshape_of_a_mode_longer_than_its_mesh_axis():
    """One split that divides evenly: units hold neighbouring elements, and go with the outer axis."""
    layout = ShardLayout(Layout((64,), (0,)), (Broadcast(), Split(0), Broadcast()), THREADS)
    x = var((64,), "f32", "rmem", with_strides(layout, per_unit_strides(layout)))
    rows = call(Reshape((16, 4)), x).type.layout
    assert (rows.shape, rows.attrs) == ((8, 2, 4), (Broadcast(), Split(0), Broadcast()))
    assert rows.layout.strides == (0, 4, 1)
    for new in ((4, 16), (2, 32)):
        with pytest.raises(VerifyError, match="do not stay whole"):
            call(Reshape(new), x)
    padded = var((64,), "f32", "smem", with_strides(layout, (3,)))
    with pytest.raises(VerifyError, match="do not stay whole"):
        call(Reshape((16, 4)), padded)


def test_reshape_keeps_explicit_strides():
    fragment = ShardLayout(Layout((4, 8, 6), (100, 8, 1)), (Split(0), Broadcast(), Broadcast()), THREADS)
    rows = call(Reshape((4, 4, 12)), var((4, 48), "f32", "smem", fragment)).type.layout
    assert rows.layout == Layout((4, 4, 2, 6), (100, 16, 8, 1))


def test_reshape_needs_as_many_elements():
    for new, words in (
        ((63,), "does not have as many"),
        ((N,), "cannot be proven"),
        ((-1, -1), "negative"),
        ((-2,), "negative"),
        ((-1, 5), "stands for no one extent: 64 elements over 5"),
        ((-1, 0), "stands for no one extent"),
        ((-1, N), "stands for no one extent"),
    ):
        with pytest.raises(VerifyError, match=words):
            call(Reshape(new), var((64,)))
    with pytest.raises(TypeError):
        Reshape(("a",))


# -- slice


def test_windows_of_open_layouts():
    window = Slice((1, 64, 8), drop=(0,), boundary=("error", "zero", "error"))
    assert call(window, var((N, N, 8)), Tuple((I, I, 0))).type == var((64, 8)).type
    assert window.strides == (1, 1, 1)
    assert window.kept == (1, 2)


def test_windows_of_plain_layouts_are_views():
    at = call(Slice((8, 4)), MATRIX, Tuple((2, 3))).type.layout
    assert at == ComposedLayout(None, 2 * 32 + 3, Layout((8, 4), (32, 1)))
    assert call(Slice((8, 32)), MATRIX, Tuple((0, 0))).type.layout == Layout((8, 32), (32, 1))
    assert call(Slice((8, 32), (2, 1)), MATRIX, Tuple((0, 0))).type.layout == Layout((8, 32), (64, 1))
    longer = call(Slice((8, 40), boundary=("error", "zero")), MATRIX, Tuple((2, 0)))
    assert longer.type.layout == Layout((8, 40), (40, 1))  # no view of the matrix has the zeros beyond its rows
    moving = call(Slice((1, 32), drop=(0,)), MATRIX, Tuple((I, 0)))
    assert moving.type.layout == ComposedLayout(None, dim_mul(I, 32), Layout((32,), (1,)))
    again = call(Slice((2, 2)), call(Slice((8, 4)), MATRIX, Tuple((2, 3))), Tuple((1, 1))).type.layout
    assert again.offset == 67 + 33


def test_windows_of_placed_tensors():
    x = placed((64, 6), *ROWS, 6)
    narrow = call(Slice((64, 2)), x, Tuple((0, 4))).type
    assert narrow.layout.layout == Layout((4, 2, 8, 2), (0, 2, 0, 1))
    assert narrow.layout.attrs == x.type.layout.attrs
    dropped = call(Slice((64, 1), drop=(1,)), x, Tuple((0, I))).type
    assert dropped.layout.shape == (4, 2, 8)
    with pytest.raises(VerifyError, match=r"axis 0 is split(.|\n)*cannot be narrowed"):
        call(Slice((32, 6)), x, Tuple((0, 0)))
    with pytest.raises(VerifyError, match="axis 0 is split"):
        call(Slice((64, 6)), x, Tuple((I, 0)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(Slice((8,)), MATRIX, Tuple((0,))), "1 sizes for 2 axes"),
        (lambda: call(Slice((8, 4)), MATRIX, Tuple((0,))), "1 starts for 2 axes"),
        (lambda: call(Slice((8, 4)), MATRIX, Tuple((60, 0))), r"\[60, 68\) exceeds axis 0 of extent 64"),
        (lambda: call(Slice((8, 16), (1, 3)), MATRIX, Tuple((0, 0))), r"\[0, 46\) exceeds axis 1"),
        (lambda: call(Slice((8, 4)), MATRIX, Tuple((-1, 0))), "before the tensor"),
        (lambda: call(Slice((8, 4)), MATRIX, Tuple((0, var((1,), "i64")))), "scalar integer"),
        (lambda: call(Slice((8, 4)), MATRIX, I), "tuple of scalar indices"),
        (lambda: Slice((8, 4), drop=(0,)), "cannot be dropped"),
        (lambda: Slice((8, 4), drop=(2,)), "distinct axes"),
        (lambda: Slice((8, 4), boundary=("clip", "error")), '"zero"'),
        (lambda: Slice((8, 4), (0, 1)), "at least 1"),
        (lambda: Slice((8, 4), 0), "one for each size"),
        (lambda: Slice((8, 4), None), "strides must be an int"),
        (lambda: Slice((8, 4), drop=1.5), "drop must be an int"),
        (lambda: Slice((8, 4), boundary=None), '"zero"'),
        (lambda: Slice((8, 1 << 63)), "sizes must be a tuple of ints and dims"),
        (lambda: Slice((-8, 4)), "negative"),
    ],
)
def test_bad_windows_are_refused(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()


def test_an_overhanging_window_reads_zero_where_that_is_asked():
    assert call(Slice((8, 4), boundary=("zero", "error")), MATRIX, Tuple((60, 0))).type.shape == (8, 4)


# -- insert_slice


@pytest.mark.parametrize(
    ("sizes", "update", "axes"),
    [
        ((1, 64, 8), (64, 8), (1, 2)),
        ((1, 64, 8), (1, 64, 8), (0, 1, 2)),
        ((1, 1, 8), (1, 8), (1, 2)),
        ((64, 1, 8), (64, 8), (0, 2)),
        ((1, 1), (), ()),
        ((64, 8), (8,), None),
        ((1, 64), (63,), None),
        ((1, 64), (1, 1, 64), None),
    ],
)
def test_which_axes_an_update_has(sizes, update, axes):
    assert update_axes(sizes, update) == axes


def test_insert_slice_has_the_type_of_dst():
    dst = var((N, N, 64))
    op = InsertSlice((1, 64, 64), ("error", "clip", "error"))
    assert call(op, dst, TILE, Tuple((I, I, 0))).type == dst.type


def test_updates_of_placed_tensors():
    x = placed((64, 6), *ROWS, 6)
    for update, sizes, at in (
        (x, (64, 6), (0, 0)), (placed((64, 2), *ROWS, 2), (64, 2), (0, 4)), (placed((64,), *ROWS), (64, 1), (0, 5)),
        (var((64, 2)), (64, 2), (0, I)),
    ):  # fmt: skip
        assert call(InsertSlice(sizes), x, update, Tuple(at)).type == x.type


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: call(InsertSlice((8, 4)), MATRIX, var((8, 4), "bf16"), Tuple((0, 0))), "update has dtype bf16"),
        (lambda: call(InsertSlice((8, 4)), MATRIX, var((4, 8)), Tuple((0, 0))), "does not fill a window"),
        (lambda: call(InsertSlice((8, 4)), MATRIX, var((8, 4)), Tuple((60, 0))), "exceeds axis 0"),
        (lambda: call(InsertSlice((8,)), MATRIX, var((8,)), Tuple((0,))), "1 sizes for the 2 axes"),
        (lambda: call(InsertSlice((8, 4)), MATRIX, var((8, 4)), Tuple((0,))), "1 offsets for 2 axes"),
        (
            lambda: call(InsertSlice((32, 64)), TILE, var((32, 64)), Tuple((0, 0))),
            "dst is split over the mesh along axis 0",
        ),
        (lambda: InsertSlice((8, 4), ("zero", "error")), '"clip"'),
    ],
)
def test_bad_updates_are_refused(make, words):
    with pytest.raises((VerifyError, ValueError), match=words):
        make()


def test_partial_updates_are_refused():
    held = ShardLayout(Layout((8, 4), (4, 1)), (Partial("sum"), Broadcast(), Broadcast()), THREADS)
    with pytest.raises(VerifyError, match=r"update is Partial(.|\n)*tf\.reshard"):
        call(InsertSlice((8, 4)), MATRIX, var((8, 4), "f32", "rmem", held), Tuple((0, 0)))


# -- tuples and creation


def test_tuple_get_item():
    pair = Tuple((MATRIX, TILE))
    assert call(TupleGetItem(1), pair).type == TILE.type
    for value, index, words in ((pair, 2, "out of range"), (MATRIX, 0, "expected a tuple")):
        with pytest.raises(VerifyError, match=words):
            call(TupleGetItem(index), value)


def test_zeros_and_arange_have_their_type():
    t = make_tensor_type((N, 4), "bf16")
    assert call(Zeros(t)).type == t
    assert call(Arange(make_tensor_type((64,), "i32"), 3, -1)).type.shape == (64,)
    for bad, words in ((t, "rank 1"), (make_tensor_type((4,), "f32"), "i32 or i64")):
        with pytest.raises(VerifyError, match=words):
            call(Arange(bad))
    with pytest.raises(VerifyError, match="has no zero"):
        call(Zeros(make_tensor_type((4,), "f8e8m0")))


@pytest.mark.parametrize(
    ("extent", "dtype", "start", "step", "beyond"),
    [
        (3, "i32", 2**31 - 2, 1, 2**31),
        (3, "i32", -(2**31) + 1, -1, -(2**31) - 1),
        (2, "i32", 0, 2**31, 2**31),
        (1, "i64", 2**63, 0, 2**63),
        (3, "i32", 2**31 - 3, 1, None),
        (1, "i32", 0, 2**40, None),
        (0, "i32", 2**40, 1, None),
        (N, "i32", 2**31 - 1, 1, None),  # known when the program runs
    ],
)
def test_arange_holds_its_numbers(extent, dtype, start, step, beyond):
    op = Arange(make_tensor_type((extent,), dtype), start, step)
    if beyond is None:
        assert call(op).type == op.type
    else:
        with pytest.raises(VerifyError, match=f"arange: {beyond} is no value of {dtype}"):
            call(op)
    with pytest.raises(TypeError):
        Zeros((4, 4))
    with pytest.raises(TypeError):
        Arange(make_tensor_type((4,), "i32"), 0.5)


def test_layouts_that_straddle_axes_are_refused():
    mesh = make_mesh((4,))
    t = TensorType((6, 4), MATRIX.type.dtype, ShardLayout(Layout((4, 6), (0, 1)), (Split(0),), mesh), TILE.type.storage)
    with pytest.raises(VerifyError, match="straddle"):
        call(Transpose((1, 0)), Var("x", t))
    with pytest.raises(VerifyError, match="straddle"):
        call(Slice((6, 2)), Var("x", t), Tuple((0, 0)))
