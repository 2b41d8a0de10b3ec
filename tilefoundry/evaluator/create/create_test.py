"""zeros and arange against torch."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.evaluator.testing import apply, assert_same
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python import func

SHAPES = [(), (1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]


@pytest.mark.parametrize("dtype", [d for d in TORCH if d is not DType.f8e8m0], ids=str)
def test_zeros(dtype: DType) -> None:
    for shape in SHAPES:
        assert_same(apply("zeros", type=TensorType(shape, dtype)), torch.zeros(shape, dtype=torch_dtype(dtype)))
    exact = torch.float64 if dtype.is_float else torch_dtype(dtype)
    assert_same(apply("zeros", type=TensorType((2,), dtype), precision="f64"), torch.zeros(2, dtype=exact))


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("extent", [0, 1, 7])
def test_arange(dtype: str, extent: int) -> None:
    kind = DType.from_name(dtype)
    for start, step in ((0, 1), (3, -2), (-(2**31), 0), (2**31 - 8, 1)):
        expected = torch.tensor([start + step * k for k in range(extent)], dtype=torch_dtype(kind))
        assert_same(apply("arange", type=TensorType((extent,), kind), start=start, step=step), expected)


def test_zeros_of_a_dtype_without_zero_or_torch_dtype() -> None:
    with pytest.raises(EvalError, match="f4e2m1"):
        apply("zeros", type=TensorType((2,), DType.f4e2m1))


N = DimVar("N", 0, 9)


@func
def counted(x: Tensor[(N, 3), "i32"]) -> Tensor[(N, 3), "i32"]:
    column = tf.reshape(tf.arange(type=Tensor[(N,), "i32"], start=1), (-1, 1))
    return tf.zeros(Tensor[(N, 3), "i32"]) + column + x


def test_extents_come_from_the_inputs() -> None:
    for extent in (0, 1, 5):
        x = torch.zeros(extent, 3, dtype=torch.int32)
        expected = torch.arange(1, extent + 1, dtype=torch.int32)[:, None].expand(extent, 3)
        assert_same(evaluate(counted, x), expected)


@func
def late(x: Tensor[(N,), "i32"]) -> Tensor[(N,), "i32"]:
    return x + tf.arange(Tensor[(N,), "i32"], start=2**31 - 3)


def test_numbers_that_the_dtype_does_not_hold_are_refused_when_they_come() -> None:
    for extent in (0, 1, 3):
        x = torch.zeros(extent, dtype=torch.int32)
        assert_same(evaluate(late, x), torch.arange(2**31 - 3, 2**31 - 3 + extent).int())
    with pytest.raises(EvalError, match="arange: 2147483648 is no value of i32"):
        evaluate(late, torch.zeros(4, dtype=torch.int32))
    assert_same(apply("arange", type=TensorType((1,), DType.i32), step=2**40), torch.zeros(1, dtype=torch.int32))
