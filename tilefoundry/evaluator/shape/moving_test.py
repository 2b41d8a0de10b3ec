"""flip, pad, rank, shape_of against torch."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

import itertools

import pytest
import torch

from tilefoundry.dsl import DimVar, Tensor, tf
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType
from tilefoundry.python import func

ALL = [
    DType.from_name(name)
    for name in ("f64", "f32", "f16", "bf16", "fp8e4m3", "f8e8m0", "i64", "i32", "i16", "i8", "u8", "bool")
]
SHAPES = [(1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_flip(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for axes in itertools.combinations(range(-len(shape), 0), min(2, len(shape))):
            moved = x.view(torch.uint8) if x.element_size() == 1 else x  # torch flips no 8-bit floats
            assert_same(apply("flip", x, axes=axes), moved.flip(axes).view(x.dtype))
            assert_same(apply("flip", x, axes=axes[0]), moved.flip(axes[0]).view(x.dtype))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_pad(dtype: DType) -> None:
    fill = {"bool": True, "f8e8m0": 0.5}.get(dtype.name, 3)
    for shape in SHAPES:
        x = sample(shape, dtype)
        for pad in ((1, 2), (0, 3), (2, 0, 1, 1), (0, 0)):
            if len(pad) <= 2 * len(shape):
                for value in (fill,) if dtype is DType.f8e8m0 else (fill, 0):
                    expected = torch.nn.functional.pad(x, pad, value=value)
                    assert_same(apply("pad", x, pad=pad, value=value), expected)


N = DimVar("N", 0, 9)


@func
def described(x: Tensor[(N, 6), "bf16"]) -> tuple[Tensor[(), "i64"], Tensor[(2,), "i64"], Tensor[(N + 2, 6), "bf16"]]:
    return tf.rank(x), tf.shape_of(x), tf.pad(x, (0, 0, 2, 0), value=1.5)


@pytest.mark.parametrize("extent", [0, 1, 4])
def test_in_a_program(extent: int) -> None:
    x = sample((extent, 6), DType.bf16)
    rank, shape, padded = evaluate(described, x)
    assert_same(rank, torch.tensor(2))
    assert_same(shape, torch.tensor([extent, 6]))
    assert_same(padded, torch.nn.functional.pad(x, (0, 0, 2, 0), value=1.5))


def test_rank_and_shape_of_any_value() -> None:
    for shape in [(), *SHAPES]:
        x = sample(shape, DType.f32)
        assert_same(apply("rank", x), torch.tensor(len(shape)))
        assert_same(apply("shape_of", x), torch.tensor(shape, dtype=torch.int64))


def test_exact_precision_and_vmap() -> None:
    x = sample((4, 2, 3), DType.f16)
    assert_same(apply("flip", x, axes=0, precision="f64"), x.double().flip(0))
    padded = apply("pad", x, pad=(1, 1), value=0.1, precision="f64")
    assert_same(padded, torch.nn.functional.pad(x.double(), (1, 1), value=0.1))
    apply_to_each("flip", x, axes=(0, -1))
    apply_to_each("pad", x, pad=(1, 0, 0, 2), value=1)
