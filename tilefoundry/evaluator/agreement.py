"""Where several units hold one element: their copies must agree, their terms are summed."""

from __future__ import annotations

from collections.abc import Collection

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.units import Units


def agreed(units: Units, data: torch.Tensor, axes: Collection[int], what: str) -> torch.Tensor:
    """The one copy that all units along `axes` hold; a NaN agrees with a NaN.

    Raises:
        EvalError: two units hold different values; says what, at which element, and which units.
    """
    for u in axes:
        if data.shape[u] == 1:
            continue
        first = data.narrow(u, 0, 1)
        differs = data != first
        if data.is_floating_point():
            differs &= ~(data.isnan() & first.isnan())
        if differs.any():
            raise _disagree(units, data, u, differs, what)
        data = first
    return data


def completed(data: torch.Tensor, axes: Collection[int], reduction: str) -> torch.Tensor:
    """The reduction of the terms that the units along `axes` hold."""
    along = tuple(sorted(u for u in axes if data.shape[u] > 1))
    if not along:
        return data
    if reduction == "sum":
        return torch.sum(data, along, keepdim=True, dtype=data.dtype)
    return torch.amax(data, along, keepdim=True) if reduction == "max" else torch.amin(data, along, keepdim=True)


def _disagree(units: Units, data: torch.Tensor, axis: int, differs: torch.Tensor, what: str) -> EvalError:
    at = [int(i) for i in differs.nonzero()[0]]
    other = [*at]
    other[axis] = 0
    varying = [u for u in range(units.rank) if data.shape[u] > 1]
    element = tuple(at[units.rank :])
    held = f"{units.name(other, varying)} holds {data[tuple(other)].item()}"
    against = f"{units.name(at, varying)} holds {data[tuple(at)].item()}"
    where = f"element {element}" if element else "the one element"
    return EvalError(
        f"{what}: copies disagree at {where}: {held}, {against}",
        remedy="split an axis over these units, or let each write a window of its own with tf.insert_slice",
    )
