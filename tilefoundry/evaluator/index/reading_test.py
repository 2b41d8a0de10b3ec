"""index_select and gather against torch: dtypes, ranks, empty and 1-extents; indices out of range."""

# mypy: ignore-errors
# (bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.testing import apply, apply_to_each, assert_same, sample
from tilefoundry.ir.types import DType

ALL = [
    DType.from_name(name)
    for name in ("f64", "f32", "f16", "bf16", "fp8e4m3", "f8e8m0", "i64", "i32", "i16", "i8", "u8", "bool")
]
SHAPES = [(1,), (5,), (0,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4, 5)]


def index(shape: tuple[int, ...], extent: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(0, max(extent, 1), shape, generator=torch.Generator().manual_seed(7)).to(dtype)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_index_select(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for dim in range(-len(shape), len(shape)):
            for count in (0, 1, 6) if shape[dim] else (0,):
                for kind in (torch.int32, torch.int64):
                    i = index((count,), shape[dim], kind)
                    assert_same(apply("index_select", x, i, dim=dim), torch.index_select(x, dim, i))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_gather(dtype: DType) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        for dim in range(-len(shape), len(shape)):
            for count in (0, 1, 6) if shape[dim] else (0,):
                at = list(shape)
                at[dim] = count
                i = index(tuple(at), shape[dim])
                moved = x.view(torch.uint8) if x.element_size() == 1 else x  # torch gathers no 8-bit floats
                assert_same(apply("gather", x, i, dim=dim), torch.gather(moved, dim, i).view(x.dtype))
    x, i = sample((4, 3), dtype), index((2, 2), 3)
    assert_same(apply("gather", x, i, dim=1), torch.stack([x[k][i[k]] for k in range(2)]))
    assert_same(apply("gather", x, i.int(), dim=1), torch.stack([x[k][i[k]] for k in range(2)]))


@pytest.mark.parametrize("name", ["index_select", "gather"])
def test_indices_out_of_range_are_refused(name: str) -> None:
    for worst in (-1, 3, 100):
        with pytest.raises(EvalError, match=f"{name}: index {worst} is out of range for axis 0 of extent 3") as caught:
            apply(name, torch.zeros(3), torch.tensor([0, worst]), dim=0)
        assert isinstance(caught.value, ValueError)


def test_under_vmap() -> None:
    x, i = sample((4, 5, 3), DType.f32), index((4, 2), 3)
    apply_to_each("index_select", x, i, dim=1)
    apply_to_each("gather", x, index((4, 2, 2), 3), dim=1)
    apply_to_each("gather", x.to(torch.float8_e4m3fn), index((4, 2, 2), 3), dim=-1)
    with pytest.raises(EvalError, match="index 9"):
        apply_to_each("index_select", x, torch.where(i == 0, i, 9), dim=1)
