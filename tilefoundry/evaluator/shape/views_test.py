"""reshape, transpose, slice, insert_slice, tuple_get_item against torch: dtypes, ranks, empty and 1-extents."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import itertools

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import TORCH
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.core import Call, Function, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import InsertSlice, Slice, TupleGetItem
from tilefoundry.ir.types import DType, TensorType

ALL = [
    DType.from_name(name)
    for name in ("f64", "f32", "f16", "bf16", "fp8e4m3", "f8e8m0", "i64", "i32", "i16", "i8", "u8", "bool")
]
SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_reshape(dtype: DType) -> None:
    for old, new in (
        ((2, 3, 4), (6, 4)),
        ((4,), (4, 1)),
        ((1,), ()),
        ((), (1, 1)),
        ((0, 3), (3, 0)),
        ((2, 3, 4), (-1, 2)),
        ((0, 3), (-1, 3)),
        ((), (-1,)),
    ):
        x = sample(old, dtype)
        assert_same(apply("reshape", x, new_shape=new), x.reshape(new))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_transpose(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for perm in itertools.islice(itertools.permutations(range(len(shape))), 8):
            value = apply("transpose", x, perm=perm)
            assert_same(value, x.permute(perm).contiguous())
            assert value.is_contiguous()
    x = sample((2, 3, 4), dtype)
    assert_same(apply("transpose", x, perm=(-1, 0, 1)), x.permute(2, 0, 1))


def windowed(op: Slice | InsertSlice, starts: tuple[int, ...], *inputs: torch.Tensor) -> torch.Tensor:
    """The value of an op on a window; its starts are known when the program is written, or only when it runs."""
    names = {value: key for key, value in TORCH.items()}
    params = tuple(Var(f"x{k}", TensorType(tuple(x.shape), names[x.dtype])) for k, x in enumerate(inputs))
    at = tuple(Var(f"i{k}", INDEX_TYPE) for k in range(len(starts)))
    late = Call(op, (*params, Tuple(at)))
    value = evaluate(Function("f", (*params, *at), late, late.type), *inputs, *starts)
    try:
        body = Call(op, (*params, Tuple(starts)))
    except ValueError:
        return value
    assert_same(evaluate(Function("f", params, body, body.type), *inputs), value)
    return value


WINDOWS = [
    ((5,), (2,), (3,), (1,)),
    ((5,), (5,), (0,), (1,)),
    ((5,), (0,), (3,), (2,)),
    ((0,), (0,), (0,), (1,)),
    ((1,), (0,), (1,), (1,)),
    ((3, 4), (1, 0), (2, 4), (1, 1)),
    ((3, 4), (0, 3), (3, 1), (1, 1)),
    ((2, 0, 3), (0, 0, 1), (2, 0, 1), (1, 1, 1)),
    ((2, 3, 4, 5), (1, 0, 1, 0), (1, 2, 3, 3), (1, 2, 1, 2)),
]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_slice(dtype: DType) -> None:
    for shape, starts, sizes, strides in WINDOWS:
        x = sample(shape, dtype)
        cut = tuple(slice(a, a + n * s, s) for a, n, s in zip(starts, sizes, strides, strict=True))
        assert_same(windowed(Slice(sizes, strides), starts, x), x[cut])
        drop = tuple(axis for axis, n in enumerate(sizes) if n == 1)
        kept = tuple(n for n in sizes if n != 1)
        assert_same(windowed(Slice(sizes, strides, drop), starts, x), x[cut].reshape(kept))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_insert_slice(dtype: DType) -> None:
    for shape, starts, sizes, strides in WINDOWS:
        if set(strides) == {1}:
            dst, update = sample(shape, dtype, 1), sample(sizes, dtype, 2)
            expected, before = dst.clone(), dst.clone()
            expected[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))] = update
            assert_same(windowed(InsertSlice(sizes), starts, dst, update), expected)
            assert_same(dst, before)


@pytest.mark.parametrize("start", [-1, 3, 100])
def test_windows_out_of_range_are_refused_when_they_come(start: int) -> None:
    x, update = torch.zeros(2, 5), torch.zeros(2, 3)
    with pytest.raises(EvalError, match=rf"Slice window exceeds axis 1: elements {start} to {start + 2} of extent 5"):
        windowed(Slice((2, 3)), (0, start), x)
    with pytest.raises(EvalError, match=r"insert_slice exceeds axis 1") as caught:
        windowed(InsertSlice((2, 3)), (0, start), x, update)
    assert isinstance(caught.value, ValueError)


def test_tuple_get_item() -> None:
    a, b = (Var(name, TensorType((2,), DType.f32)) for name in "ab")
    for index, expected in ((0, 1.0), (1, 2.0)):
        body = Call(TupleGetItem(index), (Tuple((a, b)),))
        value = evaluate(Function("f", (a, b), body, body.type), torch.full((2,), 1.0), torch.full((2,), 2.0))
        assert_same(value, torch.full((2,), expected))


def test_under_vmap() -> None:
    x = sample((3, 2, 4, 5), DType.f32)
    apply_to_each("reshape", x, new_shape=(8, -1))
    apply_to_each("transpose", x, perm=(2, 0, 1))
