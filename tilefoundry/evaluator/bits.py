"""8-bit floats moved as bytes, where torch moves the elements of other dtypes only."""

from __future__ import annotations

import torch


def bits(x: torch.Tensor) -> torch.Tensor:
    """`x`, or its bytes where its dtype is an 8-bit float."""
    return x.view(torch.uint8) if x.dtype.is_floating_point and x.dtype.itemsize == 1 else x


def from_bits(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The elements whose `bits` these are."""
    return x.view(dtype) if x.dtype != dtype else x
