"""The type in which ops compute that round once at the end."""

from __future__ import annotations

import torch


def wide(x: torch.Tensor) -> torch.Tensor:
    """`x` in f32 where it is of a narrower float dtype, else as it is."""
    return x.to(torch.float32) if x.is_floating_point() and x.dtype.itemsize < 4 else x


def countable(x: torch.Tensor) -> torch.Tensor:
    """`x` in f32 where it is of an 8-bit float dtype, for which torch has no arithmetic, else as it is."""
    return x.to(torch.float32) if x.is_floating_point() and x.dtype.itemsize < 2 else x
