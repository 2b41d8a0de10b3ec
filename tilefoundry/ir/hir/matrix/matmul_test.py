import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Var
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import MatMul
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, number
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Partial,
    Placed,
    Split,
    layout_from_sugar,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import DType, StorageKind, make_tensor_type

N, M = DimVar("N", 1, 100), DimVar("M", 1, 100)


def var(shape, dtype="bf16", storage="gmem", layout=None):
    return Var("x", make_tensor_type(shape, dtype, storage, layout))


def placed(shape, *entries, states=(), dtype="f32"):
    sl = layout_from_sugar(entries, states)
    return var(shape, dtype, "rmem", with_strides(sl, per_unit_strides(sl)))


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((4, 8), (8, 3), (4, 3)),
        ((N, 8), (8, M), (N, M)),
        ((2, 1, 4, 8), (5, 8, 3), (2, 5, 4, 3)),
        ((4, N + 1), (1 + N, 0), (4, 0)),
    ],
)
def test_shapes(a, b, shape):
    assert call(MatMul(), var(a), var(b)).type == make_tensor_type(shape, "bf16")


def test_out_dtype_is_the_results():
    a = var((64, 64), storage="smem", layout=Layout((64, 64), (64, 1)))
    result = call(MatMul("f32"), a, a).type
    assert (result.dtype, result.storage, result.layout) == (DType.f32, StorageKind.SMEM, Layout((64, 64), (64, 1)))
    assert call(MatMul("i32"), var((4, 4), "i8"), var((4, 4), "i8")).type.dtype is DType.i32


@pytest.mark.parametrize(
    ("op", "a", "b", "words"),
    [
        (MatMul(), var((4, 8)), var((4, 8)), "8 and 4 differ"),
        (MatMul(), var((4, N)), var((M, 4)), "cannot prove that N equals M"),
        (MatMul(), var((8,)), var((8, 4)), "rank 2 or more"),
        (MatMul(), var((8, 4)), number(2.0), "rank 2 or more"),
        (MatMul(), var((4, 8)), var((8, 4), "f16"), "dtypes bf16 and f16"),
        (MatMul(), var((4, 8), "bool"), var((8, 4), "bool"), "bool"),
        (MatMul("f16"), var((4, 8), "f32"), var((8, 4), "f32"), "cannot hold"),
        (MatMul("i32"), var((4, 8)), var((8, 4)), "cannot hold"),
        (MatMul(), var((4, 8)), var((8, 4), storage="smem"), "conflicting storage"),
        (MatMul(), var((2, 4, 8)), var((3, 8, 4)), "do not broadcast"),
    ],
)
def test_operands_that_do_not_fit_are_refused(op, a, b, words):
    with pytest.raises(VerifyError, match=words):
        call(op, a, b)


def test_rows_come_from_lhs_and_columns_from_rhs():
    a, b = placed((64, 8), Placed(4, (W,)), 16, 8), placed((8, 32), 8, Placed(8, (GROUP,)), 4)
    layout = call(MatMul(), a, b).type.layout
    assert layout.shape == (4, 16, 8, 4)
    assert layout.attrs == (Split(0), Split(2), Broadcast())


def test_a_split_inner_axis_gives_partial_sums():
    a, b = placed((64, 8), 64, Placed(4, (W,)), 2), placed((8, 32), Placed(4, (W,)), 2, 32)
    assert call(MatMul(), a, b).type.layout.attrs == (Partial("sum"), Broadcast(), Broadcast())
    with pytest.raises(VerifyError, match="placed differently"):
        call(MatMul(), a, placed((8, 32), Placed(4, (QUAD,)), 2, 32))
    held = placed((64, 8), 64, 8, states=((W, Partial("sum")),))
    plain = placed((8, 32), 8, Placed(4, (QUAD,)), 8)
    assert call(MatMul(), held, plain).type.layout.attrs == (Partial("sum"), Broadcast(), Split(1))
    with pytest.raises(VerifyError, match="cannot pass through"):
        call(MatMul(), held, placed((8, 32), 8, 32, states=((W, Partial("sum")),)))


LHS, RHS = placed((64, 8), Placed(4, (W,)), 16, 8), placed((8, 32), 8, Placed(8, (GROUP,)), 4)
SUM, MAX = ((W, Partial("sum")),), ((W, Partial("max")),)


def over_groups(states=()):
    return placed((8, 32), 8, Placed(8, (GROUP,)), 4, states=states)


@pytest.mark.parametrize(
    ("lhs", "rhs", "attrs"),
    [
        (LHS, RHS, (Split(0), Split(2), Broadcast())),
        (placed((2, 64, 8), 2, Placed(4, (W,)), 16, 8), RHS, (Split(1), Split(3), Broadcast())),
        (placed((4, 64, 8), Placed(4, (W,)), 64, 8), RHS, (Split(0), Split(2), Broadcast())),  # a batch axis
        (placed((64, 8), 64, 8, states=SUM), RHS, (Partial("sum"), Split(1), Broadcast())),
        (placed((64, 8), 64, Placed(4, (QUAD,)), 2), over_groups(SUM), "placed differently"),
        (placed((64, 8), Placed(8, (GROUP,)), 8, 8), over_groups(), "splits two axes"),
        (LHS, over_groups(SUM), "splits two axes|cannot pass through"),
        (placed((64, 8), 64, 8, states=SUM), over_groups(SUM), "cannot pass through"),
        (placed((64, 8), 64, 8, states=MAX), RHS, "cannot pass through"),
        (placed((64, 8), 64, 8, states=MAX), over_groups(MAX), "cannot pass through"),
        (placed((64, 8), 64, Placed(4, (W,)), 2), RHS, "placed differently"),
        (placed((64, 8), 64, Placed(4, (W,)), 2), var((8, 32), "f32", "rmem"), "placed differently"),
        (dynamic(LHS), RHS, "Dynamic"),
        (LHS, dynamic(RHS), "Dynamic"),
    ],
)
def test_states_of_the_operands(lhs, rhs, attrs):
    if isinstance(attrs, str):
        with pytest.raises(VerifyError, match=attrs):
            call(MatMul(), lhs, rhs)
    else:
        assert call(MatMul(), lhs, rhs).type.layout.attrs == attrs
