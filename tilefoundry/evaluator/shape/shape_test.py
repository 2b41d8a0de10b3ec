"""The ops that join, part and repeat, against torch: dtypes, ranks, empty and 1-extents."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

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
def test_concat_and_stack(dtype: DType) -> None:
    for shape in SHAPES:
        parts = [sample(shape, dtype, seed) for seed in range(3)]
        for axis in range(-len(shape), len(shape)):
            assert_same(apply("concat", *parts, axis=axis), torch.cat(parts, axis))
        for axis in range(-len(shape) - 1, len(shape) + 1):
            assert_same(apply("stack", *parts, axis=axis), torch.stack(parts, axis))
    mixed = [sample((2, extent), dtype, extent) for extent in (3, 0, 1)]
    assert_same(apply("concat", *mixed, axis=1), torch.cat(mixed, 1))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_squeeze_unsqueeze_expand(dtype: DType) -> None:
    for shape, axis in (((1,), 0), ((3, 1, 4), 1), ((1, 3, 1), (0, -1)), ((0, 1), -1)):
        x = sample(shape, dtype)
        assert_same(apply("squeeze", x, axis=axis), x.squeeze(axis))
    for shape in [(), *SHAPES]:
        x = sample(shape, dtype)
        for axis in range(-len(shape) - 1, len(shape) + 1):
            assert_same(apply("unsqueeze", x, axis=axis), x.unsqueeze(axis))
    for shape, new in (((), (2, 3)), ((3, 1), (3, 4)), ((1, 3), (2, 5, -1)), ((1,), (0,)), ((0, 1), (0, 3))):
        x = sample(shape, dtype)
        assert_same(apply("expand", x, new_shape=new), x.expand(new))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_repeat_interleave(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for axis in range(-len(shape), len(shape)):
            for repeats in (0, 1, 3):
                assert_same(
                    apply("repeat_interleave", x, repeats=repeats, axis=axis), x.repeat_interleave(repeats, axis)
                )


N = DimVar("N", 0, 9)


@func
def halves(x: Tensor[(N, 6), "bf16"]) -> tuple[Tensor[(N, 3), "bf16"], Tensor[(N, 3), "bf16"]]:
    a, b = tf.split(x, axis=-1, num_splits=2)
    return b, a


@func
def rotated(x: Tensor[(N, 6), "bf16"]) -> Tensor[(N, 6), "bf16"]:
    a, b = tf.split(x, 1, 2)
    return tf.concat(-b, a, axis=1)


@func
def grouped(x: Tensor[(N, 2, 3), "f32"]) -> Tensor[(N, 6, 3), "f32"]:
    return tf.reshape(tf.expand(tf.unsqueeze(x, 2), (N, 2, 3, 3)), (N, 6, 3))


@pytest.mark.parametrize("extent", [0, 1, 4])
def test_in_programs(extent: int) -> None:
    x = sample((extent, 6), DType.bf16)
    second, first = evaluate(halves, x)
    assert_same(first, x[:, :3])
    assert_same(second, x[:, 3:])
    assert_same(evaluate(rotated, x), torch.cat((-x[:, 3:], x[:, :3]), 1))
    heads = sample((extent, 2, 3), DType.f32)
    assert_same(evaluate(grouped, heads), heads.repeat_interleave(3, 1))


def test_exact_precision_moves_f64() -> None:
    x = sample((2, 3), DType.f16)
    for name, attributes, expected in (
        ("concat", {"axis": 0}, x.double()),
        ("stack", {"axis": 0}, x.double()[None]),
        ("expand", {"new_shape": (2, 2, 3)}, x.double().expand(2, 2, 3)),
        ("unsqueeze", {"axis": 1}, x.double()[:, None]),
        ("repeat_interleave", {"axis": 0, "repeats": 2}, x.double().repeat_interleave(2, 0)),
    ):
        assert_same(apply(name, x, precision="f64", **attributes), expected)


def test_under_vmap() -> None:
    x, y = sample((4, 2, 1, 3), DType.f32, 1), sample((4, 2, 1, 3), DType.f32, 2)
    for axis in (0, -1):
        apply_to_each("concat", x, y, axis=axis)
        apply_to_each("stack", x, y, axis=axis)
        apply_to_each("unsqueeze", x, axis=axis)
        apply_to_each("repeat_interleave", x, repeats=2, axis=axis)
    apply_to_each("squeeze", x, axis=1)
    apply_to_each("expand", x, new_shape=(5, -1, 7, -1))
