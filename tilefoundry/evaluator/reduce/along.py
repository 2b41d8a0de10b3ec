"""What is checked of an axis when its extent is known."""

from __future__ import annotations

import torch

from tilefoundry.diagnostics import EvalError


def nonempty(op: str, x: torch.Tensor, axis: int) -> None:
    """Refuses an axis without elements. Raises EvalError."""
    if x.shape[axis] == 0:
        raise EvalError(
            f"{op}: axis {axis % x.dim()} of a tensor of shape {tuple(x.shape)} is empty",
            remedy="give it an extent of 1 or more",
        )
