"""index_add, index_copy, scatter_add against torch: dtypes, ranks, empty and 1-extents; indices out of range."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType

ADDED = [DType.from_name(name) for name in ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8")]
MOVED = [*ADDED, DType.fp8e4m3, DType.f8e8m0, DType.bool]
SHAPES = [(1,), (5,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]


def index(shape: tuple[int, ...], extent: int) -> torch.Tensor:
    return torch.randint(0, max(extent, 1), shape, generator=torch.Generator().manual_seed(7))


def cases():
    for shape in SHAPES:
        for dim in range(-len(shape), len(shape)):
            for count in (0, 1, 6) if shape[dim] else (0,):
                other = list(shape)
                other[dim] = count
                yield shape, tuple(other), dim


@pytest.mark.parametrize("dtype", ADDED, ids=str)
def test_index_add(dtype: DType) -> None:
    for shape, other, dim in cases():
        dst, src, i = sample(shape, dtype, 1), sample(other, dtype, 2), index(other[dim : dim + 1 or None], shape[dim])
        before = dst.clone()
        for kind in (i, i.int()):
            assert_same(apply("index_add", dst, kind, src, dim=dim), torch.index_add(dst, dim, i, src))
        assert_same(dst, before)


@pytest.mark.parametrize("dtype", MOVED, ids=str)
def test_index_copy(dtype: DType) -> None:
    for shape, other, dim in cases():
        rows = min(other[dim], shape[dim])
        src = sample(other, dtype, 2).narrow(dim, 0, rows)
        dst, i = sample(shape, dtype, 1), torch.randperm(shape[dim])[:rows]
        expected = dst.clone()
        for k, row in enumerate(i.tolist()):
            expected.select(dim, row).copy_(src.select(dim, k))
        for kind in (i, i.int()):
            assert_same(apply("index_copy", dst, kind, src, dim=dim), expected)


@pytest.mark.parametrize("dtype", ADDED, ids=str)
def test_scatter_add(dtype: DType) -> None:
    for shape, other, dim in cases():
        dst, src, i = sample(shape, dtype, 1), sample(other, dtype, 2), index(other, shape[dim])
        for kind in (i, i.int()):
            assert_same(apply("scatter_add", dst, kind, src, dim=dim), torch.scatter_add(dst, dim, i, src))
    dst, src, i = sample((4, 5), dtype, 1), sample((3, 4), dtype, 2), index((2, 3), 4)
    assert_same(apply("scatter_add", dst, i, src, dim=0), torch.scatter_add(dst, 0, i, src))


def test_exact_precision_adds_in_f64() -> None:
    tenth = torch.full((1,), 0.1)
    for name in ("index_add", "scatter_add"):
        value = apply(name, torch.zeros(1), torch.zeros(1, dtype=torch.int64), tenth, dim=0, precision="f64")
        assert_same(value, tenth.double())


@pytest.mark.parametrize("name", ["index_add", "index_copy", "scatter_add"])
def test_indices_out_of_range_are_refused(name: str) -> None:
    for worst in (-1, 3):
        with pytest.raises(EvalError, match=f"{name}: index {worst} is out of range for axis 0 of extent 3"):
            apply(name, torch.zeros(3), torch.tensor([0, worst]), torch.zeros(2), dim=0)


def test_under_vmap() -> None:
    dst, src = sample((4, 5, 3), DType.f32, 1), sample((4, 2, 3), DType.f32, 2)
    rows = torch.stack([torch.randperm(5)[:2] for _ in range(4)])
    apply_to_each("index_add", dst, rows, src, dim=0)
    apply_to_each("index_copy", dst, rows, src, dim=-2)
    apply_to_each("scatter_add", dst, index((4, 2, 3), 5), src, dim=0)
