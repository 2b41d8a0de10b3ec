"""What matrix instructions compute."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tilefoundry.evaluator.context import EvalContext
from tilefoundry.ir.types import DType


def product(ctx: EvalContext, operands: Sequence[torch.Tensor], dtypes: Sequence[DType], acc: DType) -> torch.Tensor:
    """The operands rounded to their dtypes and multiplied in the accumulator's dtype."""
    a, b = (x.to(ctx.dtype(dtype)).to(ctx.dtype(acc)) for x, dtype in zip(operands, dtypes, strict=True))
    return torch.matmul(a, b)
