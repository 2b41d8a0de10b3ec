"""An op on operands that differ between units: its own evaluation, mapped over the unit axes by torch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.spread import Spread, Value, lift, replace, settled, spreads
from tilefoundry.evaluator.units import Units

Values = tuple[Value, ...]
Evaluate = Callable[[Values], Value]


def mapped(units: Units, name: str, evaluate: Evaluate, values: Values) -> Value:
    """``evaluate(values)`` for every unit: along a unit axis, a part that does not vary is given to all alike.

    Args:
        name: of the op, for the message.

    Raises:
        EvalError: the op decides by the values of its operands what to do, which torch cannot map.
    """
    found = list(spreads(values))
    active = [u for u in range(units.rank) if any(s.data.shape[u] > 1 for s in found)]
    try:
        return _mapped(units, evaluate, values, [s.data for s in found], active)
    except RuntimeError:
        # a part that does not vary is written into by one that does: give each unit a copy
        extents = [max(s.data.shape[u] for s in found) for u in range(units.rank)]
        everywhere = tuple(_lifted(units, value) for value in values)
        copies = [s.data.expand(*extents, *s.data.shape[units.rank :]) for s in spreads(everywhere)]
        try:
            return _mapped(units, evaluate, everywhere, copies, active)
        except RuntimeError as error:
            raise EvalError(
                f"{name}: operands that differ from unit to unit cannot be evaluated: {str(error).splitlines()[0]}",
                remedy="tf.reshard the operand, so that all units hold one value",
            ) from error


def _mapped(units: Units, evaluate: Evaluate, values: Values, datas: list[torch.Tensor], active: list[int]) -> Value:
    def on_one_unit(*parts: torch.Tensor) -> Value:
        rest = iter(parts)
        return evaluate(tuple(replace(value, lambda _: next(rest)) for value in values))

    function: Callable[..., Value] = on_one_unit
    for u in reversed(active):
        varies = tuple(0 if data.shape[u] > 1 else None for data in datas)
        function = torch.vmap(function, in_dims=varies)
    kept = [_without_single(units, data) for data in datas]
    return _spread(units, function(*kept), active)


def _without_single(units: Units, data: torch.Tensor) -> torch.Tensor:
    lead = tuple(n for n in data.shape[: units.rank] if n > 1)
    return data.reshape(lead + tuple(data.shape[units.rank :]))


def _spread(units: Units, result: Value, active: list[int]) -> Value:
    if isinstance(result, tuple):
        return tuple(_spread(units, part, active) for part in result)
    assert isinstance(result, torch.Tensor)
    lead = [1] * units.rank
    for u, extent in zip(active, result.shape, strict=False):
        lead[u] = extent
    return settled(units, result.reshape((*lead, *result.shape[len(active) :])))


def _lifted(units: Units, value: Value) -> Value:
    if isinstance(value, torch.Tensor):
        return Spread(lift(units, value), units)
    return tuple(_lifted(units, part) for part in value) if isinstance(value, tuple) else value
