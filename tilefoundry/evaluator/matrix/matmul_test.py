"""matmul against torch: dtypes, ranks, batches, empty and 1-extents, wider results."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType

FLOATS = [DType.f64, DType.f32, DType.f16, DType.bf16]
INTS = [DType.i64, DType.i32, DType.i16, DType.i8, DType.u8]
SHAPES = [
    ((3, 4), (4, 5)),
    ((1, 1), (1, 1)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
    ((3, 4), (4, 0)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((0, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((1, 1, 4), (2, 1, 4, 1)),
]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS], ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul(dtype: DType, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = sample(shapes[0], dtype, 1), sample(shapes[1], dtype, 2)
    assert_same(apply("matmul", x, y), torch.matmul(x, y))
    if dtype.is_float:
        assert_same(apply("matmul", x, y, precision="f64"), torch.matmul(x.double(), y.double()))


@pytest.mark.parametrize(
    ("dtype", "out"),
    [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i8", "i32"), ("fp8e4m3", "f32"), ("fp8e5m2", "f16")],
)
def test_matmul_accumulates_in_out_dtype(dtype: str, out: str) -> None:
    x, y = sample((8, 300), DType.from_name(dtype), 1), sample((300, 8), DType.from_name(dtype), 2)
    wide = torch_dtype(DType.from_name(out))
    value = apply("matmul", x, y, out_dtype=out)
    assert_same(value, (x.double() @ y.double()).to(wide))  # every product and sum here is exact
    if wide.is_floating_point:
        assert_same(apply("matmul", x, y, out_dtype=out, precision="f64"), x.double() @ y.double())


@pytest.mark.parametrize("dtype", [DType.fp8e4m3, DType.fp8e5m2], ids=str)
def test_products_of_8_bit_floats_are_rounded_once(dtype: DType) -> None:
    x, y = sample((4, 3), dtype, 1), sample((3, 4), dtype, 2)
    assert_same(apply("matmul", x, y), (x.double() @ y.double()).to(torch_dtype(dtype)))


def test_under_vmap() -> None:
    for shapes in SHAPES:
        x, y = (sample((3, *shape), DType.f64, k) for k, shape in enumerate(shapes))
        apply_to_each("matmul", x, y)
