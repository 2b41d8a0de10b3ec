"""Values that differ from unit to unit.

A value is a plain tensor as long as all units agree on it. Elements that a Split gives to different units lie side by
side in one logical tensor, for each has one owner; what can differ is what several units hold *of one element*: copies
of a Broadcast or unplaced value, and the terms of a Partial. Such a value is `Spread`: unit axes in front, of extent 1
where it does not vary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.units import Units

Value = object  # a torch.Tensor, an int (an index scalar), a Spread, or a tuple of values


@dataclass(frozen=True, eq=False)
class Spread:
    """Attributes:
    data: the unit axes of `units`, then the logical shape; an index scalar has the shape ().
    """

    data: torch.Tensor
    units: Units

    @property
    def varying(self) -> tuple[int, ...]:
        """The unit axes along which the value may differ."""
        return tuple(u for u in range(self.units.rank) if self.data.shape[u] > 1)


def spreads(value: Value) -> Iterator[Spread]:
    """The spread values in a value."""
    if isinstance(value, Spread):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from spreads(part)


def replace(value: Value, change: Callable[[Spread], Value]) -> Value:
    """A value with each spread part changed."""
    if isinstance(value, Spread):
        return change(value)
    return tuple(replace(part, change) for part in value) if isinstance(value, tuple) else value


def lift(units: Units, value: Value) -> torch.Tensor:
    """A tensor or spread value with unit axes in front."""
    if isinstance(value, Spread):
        return value.data
    assert isinstance(value, torch.Tensor), value
    return value.reshape((1,) * units.rank + tuple(value.shape))


def lift_index(units: Units, value: Value, device: torch.device) -> torch.Tensor:
    """An index scalar with unit axes in front."""
    if isinstance(value, int):
        return torch.full((1,) * units.rank, value, device=device)
    return lift(units, value)


def settled(units: Units, data: torch.Tensor) -> Value:
    """A value from its data: a plain tensor when no unit axis has an extent.

    Raises:
        EvalError: it varies over one level as counted by a whole mesh and by a slice of one.
    """
    varying = [u for u in range(units.rank) if data.shape[u] > 1]
    if not varying:
        return data.reshape(data.shape[units.rank :])
    if units.mixes_scopes(varying):
        raise EvalError(
            "a value depends on coordinates of a mesh and of a slice of it",
            remedy="use the axes of one of the two",
        )
    return Spread(data, units)


def settled_index(units: Units, data: torch.Tensor) -> Value:
    """An index scalar from its data."""
    value = settled(units, data)
    return int(value) if isinstance(value, torch.Tensor) else value
