"""Conditions on the values of tensors, also inside torch.func.vmap, where a tensor's truth cannot be asked for."""

from __future__ import annotations

import torch
from torch._C import _functorch

from tilefoundry.diagnostics import EvalValueError


def require(holds: torch.Tensor, message: str, remedy: str) -> None:
    """Refuses the evaluation unless all elements hold: under vmap, those of every participant.

    Raises:
        EvalValueError: an element does not hold.
    """
    if not bool(concrete(holds).all()):
        raise EvalValueError(message, remedy=remedy)


def concrete(x: torch.Tensor) -> torch.Tensor:
    """The tensor below the wrappers of vmap, with one leading axis for each that maps over it."""
    while _functorch.is_functorch_wrapped_tensor(x):
        x = _functorch.get_unwrapped(x)
    return x


def require_index(op: str, index: torch.Tensor, extent: int, axis: int) -> None:
    """Refuses an index tensor with an element outside [0, extent).

    Raises:
        EvalValueError: says the worst one.
    """
    values = concrete(index)
    if not values.numel():
        return
    least, greatest = int(values.min()), int(values.max())
    if least < 0 or greatest >= extent:
        worst = least if least < 0 else greatest
        raise EvalValueError(
            f"{op}: index {worst} is out of range for axis {axis} of extent {extent}",
            remedy=f"use 0 <= index < {extent}; indices do not count from the end",
        )
