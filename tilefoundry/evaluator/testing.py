"""For tests: inputs, and the comparison with torch."""

from __future__ import annotations

import torch

from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.ir.types import DType


def sample(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> torch.Tensor:
    """Values of moderate size, negative ones and equal ones among them where the dtype has such."""
    generator = torch.Generator().manual_seed(seed)
    if dtype is DType.bool:
        return torch.rand(shape, generator=generator) > 0.5
    low = 0 if dtype is DType.u8 else -4
    if dtype.is_integer:
        return torch.randint(low, 5, shape, generator=generator).to(torch_dtype(dtype))
    return (torch.randint(-16, 17, shape, generator=generator) / 4).to(torch_dtype(dtype))


def assert_same(value: torch.Tensor, expected: torch.Tensor) -> None:
    assert value.dtype == expected.dtype
    torch.testing.assert_close(value, expected, rtol=0, atol=0, equal_nan=True)
