import itertools

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import Binary, BinaryKind, Cast, Clamp, FullLike, Gelu, Silu, Softplus, Unary, UnaryKind, Where
from tilefoundry.ir.samples import GROUP, QUAD, THREADS, W, binary, call, number
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Dynamic,
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
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type

K, U = BinaryKind, UnaryKind
N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)


def var(shape, dtype="f32", storage="gmem", layout=None):
    return Var("x", make_tensor_type(shape, dtype, storage, layout))


def placed(shape, *entries, states=(), dtype="f32", storage="rmem"):
    sl = layout_from_sugar(entries, states)
    return var(shape, dtype, storage, with_strides(sl, per_unit_strides(sl)))


ROWS = (Placed(4, (W,)), 2, Placed(8, (GROUP,)))


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((4, 1), (3,), (4, 3)),
        ((), (3,), (3,)),
        ((1,), (0,), (0,)),
        ((2, N), (N,), (2, N)),
        ((N, 1), (1, M), (N, M)),
        ((N + 1,), (1 + N,), (N + 1,)),
    ],
)
def test_shapes_broadcast_from_the_right(a, b, shape):
    assert binary(K.ADD, var(a), var(b)).type.shape == make_tensor_type(shape).shape
    assert call(Where(), var(a, "bool"), var(b), number(0.0)).type.shape == make_tensor_type(shape).shape


@pytest.mark.parametrize(
    ("a", "b", "words"), [((4,), (3,), "4 and 3 differ at axis -1"), ((N,), (M,), "cannot prove that N equals M")]
)
def test_shapes_that_do_not_broadcast_are_refused(a, b, words):
    with pytest.raises(VerifyError, match=words):
        binary(K.ADD, var(a), var(b))


@pytest.mark.parametrize(
    ("kind", "dtype", "result"),
    [
        (K.ADD, "bf16", "bf16"),
        (K.DIV, "f32", "f32"),
        (K.FLOOR_DIV, "i32", "i32"),
        (K.MOD, "i64", "i64"),
        (K.LT, "f32", "bool"),
        (K.EQ, "bool", "bool"),
        (K.AND, "bool", "bool"),
    ],
)
def test_result_dtypes(kind, dtype, result):
    assert binary(kind, var((4,), dtype), var((4,), dtype)).type.dtype.name == result


@pytest.mark.parametrize(
    ("kind", "a", "b", "words"),
    [
        (K.ADD, "f32", "bf16", "dtypes f32 and bf16; dtypes never promote"),
        (K.AND, "f32", "f32", "needs bool"),
        (K.MOD, "f32", "f32", "needs integer"),
        (K.DIV, "i32", "i32", "needs float"),
        (K.ADD, "bool", "bool", "does not accept bool"),
        (K.LT, "bool", "bool", "does not accept bool"),
    ],
)
def test_dtypes_that_do_not_fit_are_refused(kind, a, b, words):
    with pytest.raises(VerifyError, match=words):
        binary(kind, var((4,), a), var((4,), b))


def test_literals_adopt_the_dtype_of_the_tensor():
    assert binary(K.MUL, var((4,), "bf16"), number(0.5)).type.dtype is DType.bf16
    assert binary(K.ADD, number(3, "i64"), var((4,), "i32")).type.dtype is DType.i32
    assert call(Where(), var((4,), "bool"), var((4,), "f16"), number(-1e30)).type.dtype is DType.f16
    assert binary(K.ADD, number(1.0), number(2.0)).type == TensorType.umat_scalar(DType.f32)
    for literal, dtype, words in (
        (number(2, "i64"), "f32", r"literal 2 .* does not adopt the dtype f32(.|\n)*write 2\.0"),
        (number(0.5), "i32", "does not adopt"),
        (number(300, "i64"), "u8", "does not fit u8"),
        (number(True, "bool"), "i32", "does not adopt"),
    ):
        with pytest.raises(VerifyError, match=words):
            binary(K.ADD, var((4,), dtype), literal)


def test_an_index_is_no_literal():
    with pytest.raises(VerifyError, match="dtypes i32 and i64"):
        binary(K.ADD, var((4,), "i32"), Var("i", INDEX_TYPE))
    assert binary(K.ADD, var((4,), "i32"), call(Cast("i32"), Var("i", INDEX_TYPE))).type.dtype is DType.i32


def test_storage_must_agree_and_umat_abstains():
    assert binary(K.ADD, var((4,)), number(1.0)).type.storage is StorageKind.GMEM
    with pytest.raises(VerifyError, match=r"conflicting storage: gmem, rmem(.|\n)*tf\.reshard"):
        binary(K.ADD, var((4,)), var((4,), storage="rmem"))


def test_plain_results():
    assert binary(K.ADD, var((4, 3)), var((3,))).type.layout is None
    transposed = var((4, 3), storage="smem", layout=Layout((4, 3), (1, 4)))
    assert binary(K.ADD, transposed, transposed).type.layout == Layout((4, 3), (3, 1))
    assert call(Unary(U.EXP), transposed).type == transposed.type
    register = var((4, 1), storage="rmem", layout=Layout((4, 1), (1, 1)))
    assert binary(K.ADD, register, register).type.layout == Layout((4, 1), (1, 0))
    window = var((4,), storage="smem", layout=ComposedLayout(None, 8, Layout((4,), (2,))))
    assert call(Unary(U.NEG), window).type.layout == Layout((4,), (1,))


def test_a_column_broadcasts_against_a_tile():
    tile = placed((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2)
    column, row = placed((64, 1), *ROWS, 1), placed((64,), 8, Placed(4, (QUAD,)), 2)
    for other in (column, row, number(1.0)):
        assert binary(K.SUB, tile, other).type == tile.type
        assert binary(K.SUB, other, tile).type == tile.type
    # neither operand has the whole placement
    assert binary(K.ADD, column, row).type == tile.type
    mask = binary(K.LT, row, row)
    assert call(Where(), mask, tile, number(0.0)).type == tile.type


def test_unsplit_factors_do_not_matter():
    a, b = placed((64, 4), Placed(4, (W,)), 16, 4), placed((64, 4), Placed(4, (W,)), 2, 8, 2, 2)
    assert binary(K.ADD, a, b).type.layout.shape == (4, 2, 8, 2, 2)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (
            placed((64,), Placed(4, (W,)), 16),
            placed((64,), 16, Placed(4, (W,))),
            r"\(4 @ w, 16\) against \(16, 4 @ w\)",
        ),
        (placed((64,), Placed(4, (W,)), 16), placed((64,), Placed(4, (QUAD,)), 16), "placed differently"),
        (placed((64, 1), Placed(4, (W,)), 16, 1), placed((64,), Placed(4, (W,)), 16), "'w' splits two axes"),
        (
            placed((4,), Placed(4, (W,))),
            var((4,), storage="rmem", layout=ShardLayout(Layout((4,), (0,)), (Split(0),), make_mesh((4,)))),
            "different meshes",
        ),
        (
            placed((4,), Placed(4, (W,))),
            var(
                (4,),
                storage="rmem",
                layout=ShardLayout(Layout((4,), (1,)), (Dynamic(), Broadcast(), Broadcast()), THREADS),
            ),
            "Dynamic",
        ),
    ],
)
def test_placements_that_do_not_fit_are_refused_with_a_remedy(a, b, words):
    with pytest.raises(VerifyError, match=words) as caught:
        binary(K.ADD, a, b)
    assert "tf.reshard" in caught.value.remedy


def test_a_replicated_operand_contributes_nothing():
    split = placed((64,), Placed(4, (W,)), 16)
    whole = ShardLayout(Layout((64,), (1,)), (Broadcast(),) * 3, THREADS)
    for other in (var((64,), storage="rmem", layout=whole), var((64,), storage="rmem")):
        assert binary(K.ADD, split, other).type == binary(K.ADD, other, split).type == split.type
        assert call(Where(), binary(K.LT, other, other), split, other).type == split.type


def test_placements_that_straddle_axes_pass_where_all_operands_have_them():
    mesh = make_mesh((4,))
    straddling = var((6, 4), storage="rmem", layout=ShardLayout(Layout((4, 6), (0, 1)), (Split(0),), mesh))
    assert binary(K.ADD, straddling, straddling).type == straddling.type
    assert binary(K.ADD, straddling, number(1.0)).type == straddling.type
    with pytest.raises(VerifyError, match="straddle"):
        binary(K.ADD, straddling, var((1, 4), storage="rmem", layout=Layout((1, 4))))


def partial(reduction, dtype="f32"):
    return placed((64,), 64, states=((W, Partial(reduction)),), dtype=dtype)


REPLICATED = var(
    (64,), storage="rmem", layout=ShardLayout(Layout((64,), (1,)), (Broadcast(), Broadcast(), Broadcast()), THREADS)
)


# what passes; None is a replicated operand. Each other combination with a Partial in it is refused.
BINARY_PASSES = {
    (K.ADD, "sum", "sum"): "sum",
    **{(K.ADD, *pair): held for held in ("max", "min") for pair in ((held, None), (None, held))},
    (K.MUL, "sum", None): "sum",
    (K.MUL, None, "sum"): "sum",
}


@pytest.mark.parametrize("kind", K, ids=lambda kind: kind.value)
def test_partial_values_through_binary(kind):
    dtype = "i32" if kind in (K.FLOOR_DIV, K.MOD) else "bool" if kind in (K.AND, K.OR) else "f32"
    replicated = var((64,), dtype, "rmem", REPLICATED.type.layout)
    operands = {held: partial(held, dtype) if held else replicated for held in (None, "sum", "max", "min")}
    for a, b in itertools.product(operands, repeat=2):
        passes = BINARY_PASSES.get((kind, a, b))
        if passes is None and (a or b):
            with pytest.raises(VerifyError, match=r"mesh axis 'w'(.|\n)*explicit tf\.reshard"):
                binary(kind, operands[a], operands[b])
        else:
            attr = binary(kind, operands[a], operands[b]).type.layout.attrs[0]
            assert attr == (Partial(passes) if passes else Broadcast()), (a, b)


def test_a_number_is_replicated():
    assert binary(K.MUL, partial("sum"), number(2.0)).type.layout.attrs[0] == Partial("sum")


def test_partial_values_do_not_pass_through_cast_and_where():
    with pytest.raises(VerifyError, match="cannot pass through"):
        call(Cast("bf16"), partial("sum"))
    with pytest.raises(VerifyError, match="cannot pass through"):
        call(Where(), placed((64,), 64, states=((W, Partial("max")),), dtype="bool"), REPLICATED, REPLICATED)


def test_unary_operands():
    assert call(Unary(U.NOT), var((4,), "bool")).type.dtype is DType.bool
    assert call(Unary(U.NEG), var((4,), "i32")).type.dtype is DType.i32
    for kind, dtype, words in (
        (U.NOT, "f32", "needs a bool"),
        (U.EXP, "i32", "needs a float"),
        (U.NEG, "bool", "bool"),
    ):
        with pytest.raises(VerifyError, match=words):
            call(Unary(kind), var((4,), dtype))
    with pytest.raises(TypeError, match="Cast"):
        Unary(U.CAST)
    with pytest.raises(TypeError, match="BinaryKind"):
        Binary("add")


def test_cast_and_full_like():
    tile = placed((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2)
    assert call(Cast("bf16"), tile).type == TensorType(tile.type.shape, DType.bf16, tile.type.layout, StorageKind.RMEM)
    assert call(FullLike(1.5), tile).type == tile.type
    assert FullLike(0.0) != FullLike(-0.0)
    assert FullLike(1) != FullLike(True)
    for value, dtype in ((1.5, "i32"), (300, "u8"), (1, "bool")):
        with pytest.raises(VerifyError, match="is no value of"):
            call(FullLike(value), var((4,), dtype))
    with pytest.raises(VerifyError, match="condition must be bool"):
        call(Where(), tile, tile, tile)


def test_tests_of_elements_give_bool():
    tile = placed((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2)
    for kind in (U.ISNAN, U.ISINF):
        t = call(Unary(kind), tile).type
        assert (t.dtype, t.layout) == (DType.bool, tile.type.layout)


@pytest.mark.parametrize("op", [Clamp(-1.0, 1), Softplus(), Silu(), Gelu(), Gelu("none")], ids=str)
def test_activations_are_of_the_type_of_x(op):
    for x in (
        placed((64, 64), *ROWS, 8, Placed(4, (QUAD,)), 2),
        var((4, N), "bf16"),
        var((), "f64"),
        var((4, 3), "f16", "smem", Layout((4, 3), (1, 4))),
    ):
        assert call(op, x).type == x.type


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: binary(K.POW, var((4,), "i32"), var((4,), "i32")), "pow needs float operands, got i32"),
        (lambda: call(Unary(U.SIN), var((4,), "i64")), "sin needs a float operand, got i64"),
        (lambda: call(Unary(U.ISNAN), var((4,), "i64")), "isnan needs a float operand"),
        (lambda: call(Unary(U.SQRT), var((4,), "bool")), "sqrt does not accept a bool operand"),
        (lambda: call(Clamp(0, 1), var((4,), "bool")), "does not accept a bool"),
        (lambda: call(Clamp(0.5, 1), var((4,), "i32")), "min_val 0.5 is no value of i32"),
        (lambda: call(Clamp(0, 300), var((4,), "u8")), r"max_val 300 is no value of u8, which holds 0\.\.255"),
        (lambda: Clamp(float("nan"), 1.0), "min_val must be a number, got nan"),
        (lambda: Clamp(0.0, True), "max_val must be a number, got True"),
        (lambda: call(Softplus(), var((4,), "i32")), "'x' must be of f16, bf16, f32 or f64, got i32"),
        (lambda: call(Silu(), var((4,), "fp8e4m3")), "got fp8e4m3"),
        (lambda: call(Gelu(), var((4,), "bool")), "got bool"),
        (lambda: Gelu("erf"), "unknown approximation 'erf'(.|\n)*tanh, none"),
    ],
)
def test_activations_refuse(make, words):
    with pytest.raises((VerifyError, ValueError, TypeError), match=words):
        make()
