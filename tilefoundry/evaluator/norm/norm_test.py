"""Normalising ops against torch."""

from __future__ import annotations

import pytest
import torch

from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
SHAPES = [(1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 1), (2, 3, 4, 5)]


def rounded(exact: torch.Tensor, value: torch.Tensor) -> None:
    """The value is the f64 result rounded once: by half a unit of its own dtype, and 16 of f32 for the way there."""
    computed = torch.float32 if value.dtype.itemsize < 8 else torch.float64
    bound = torch.finfo(value.dtype).eps / 2 + 16 * torch.finfo(computed).eps
    torch.testing.assert_close(value.double(), exact, rtol=bound, atol=bound, equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for axis in range(-len(shape), len(shape)):
            rounded(torch.softmax(x.double(), axis), apply("softmax", x, axis=axis))
            assert_same(apply("softmax", x, axis=axis, precision="f64"), torch.softmax(x.double(), axis))
    assert_same(apply("softmax", sample((3, 4), dtype)), apply("softmax", sample((3, 4), dtype), axis=1))


def test_softmax_does_not_overflow() -> None:
    x = torch.tensor([[1e30, 0.0, -1e30], [float("inf"), 0.0, 0.0], [float("-inf"), 0.0, 0.0]])
    assert_same(apply("softmax", x)[::2], torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
    assert apply("softmax", x)[1].isnan().any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("weights", ["own", "f32"])
def test_rms_norm(dtype: DType, weights: str) -> None:
    for shape in SHAPES:
        x, w = sample(shape, dtype), sample(shape[-1:], dtype if weights == "own" else DType.f32, 1)
        for eps in (1e-6, 0.5):
            exact = torch.nn.functional.rms_norm(x.double(), shape[-1:], w.double(), eps)
            rounded(exact, apply("rms_norm", x, w, eps=eps))
            rounded(exact, apply("rms_norm", x, w, eps=eps, precision="f64"))


def test_rms_norm_applies_the_weight_before_the_rounding() -> None:
    x, w = torch.full((1, 2), 3.0).bfloat16(), torch.full((2,), 1 + 2**-9)
    x[0, 1] = 1.0
    exact = torch.nn.functional.rms_norm(x.double(), (2,), w.double(), 1e-6)
    assert_same(apply("rms_norm", x, w), exact.bfloat16())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("weights", ["own", "f32"])
def test_layer_norm(dtype: DType, weights: str) -> None:
    for shape in SHAPES:
        for axis in range(len(shape)):
            kind = dtype if weights == "own" else DType.f32
            x, w, b = sample(shape, dtype), sample(shape[axis:], kind, 1), sample(shape[axis:], kind, 2)
            exact = torch.nn.functional.layer_norm(x.double(), shape[axis:], w.double(), b.double(), 1e-3)
            for where in (axis, axis - len(shape)):
                rounded(exact, apply("layer_norm", x, w, b, axis=where, eps=1e-3))
                rounded(exact, apply("layer_norm", x, w, b, axis=where, eps=1e-3, precision="f64"))


@pytest.mark.parametrize("dtype", [DType.f32, DType.bf16], ids=str)
def test_for_each_participant(dtype: DType) -> None:
    x, w, b = sample((3, 4, 8), dtype), sample((3, 8), dtype, 1), sample((3, 8), dtype, 2)
    apply_to_each("softmax", x, axis=0)
    apply_to_each("rms_norm", x, w)
    apply_to_each("layer_norm", x, w, b, tolerance=torch.finfo(x.dtype).eps)


def test_dtypes_stay() -> None:
    x, w = sample((2, 8), DType.bf16), sample((8,), DType.bf16)
    for value in (apply("softmax", x), apply("rms_norm", x, w), apply("layer_norm", x, w, w)):
        assert value.dtype == torch_dtype(DType.bf16)
