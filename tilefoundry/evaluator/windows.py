"""Windows that start elsewhere for each unit: reads gather, writes scatter.

A window is a grid: the unit axes, then the axes of the tensor; for each axis of the data there is an index tensor that
broadcasts to the grid. Units that take no part (`active` is false for them) read anything and write nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import EvalError, EvalValueError
from tilefoundry.evaluator.spread import Value, lift_index
from tilefoundry.evaluator.units import Units


@dataclass(frozen=True)
class Window:
    """Elements of a tensor for each unit.

    Attributes:
        axes: the indices along each axis of the tensor, over unit axes and window axes, clamped into the tensor.
        valid: which elements of the window exist for units that take part; None where all do.
    """

    axes: tuple[torch.Tensor, ...]
    valid: torch.Tensor | None


def window(
    units: Units,
    what: str,
    starts: Sequence[Value],
    sizes: Sequence[int],
    strides: Sequence[int],
    shape: Sequence[int],
    may_overhang: Sequence[bool],
    active: torch.Tensor | None,
    device: torch.device,
) -> Window:
    """The window of every unit.

    Raises:
        EvalValueError: it leaves the tensor along an axis where it must not, for a unit that takes part.
    """
    axes: list[torch.Tensor] = []
    valid = active.reshape(tuple(active.shape) + (1,) * len(sizes)) if active is not None else None
    for axis, (start, size, stride, extent) in enumerate(zip(starts, sizes, strides, shape, strict=True)):
        first = lift_index(units, start, device)
        along = [1] * (units.rank + len(sizes))
        along[units.rank + axis] = size
        steps = (torch.arange(size, device=device) * stride).reshape(along)
        index = first.reshape(tuple(first.shape) + (1,) * len(sizes)) + steps
        inside = (index >= 0) & (index < extent)
        if not inside.all():
            if not may_overhang[axis]:
                _check_inside(units, what, axis, extent, first, (size - 1) * stride, active)
            valid = inside if valid is None else valid & inside
            index = index.clamp(0, max(extent - 1, 0))
        axes.append(index)
    if valid is not None and bool(valid.all()):
        valid = None
    return Window(tuple(axes), valid)


def _check_inside(
    units: Units, what: str, axis: int, extent: int, first: torch.Tensor, reach: int, active: torch.Tensor | None
) -> None:
    outside = (first < 0) | (first + reach >= extent)
    if active is not None:
        outside = outside & active
    if outside.any():
        at = [int(i) for i in outside.nonzero()[0]]
        own = first.expand(outside.shape)[tuple(at)].item()
        varying = [u for u in range(units.rank) if outside.shape[u] > 1]
        raise EvalValueError(
            f"{what} exceeds axis {axis}: elements {own} to {own + reach} of extent {extent}, for "
            f"{units.name(at, varying)}",
            remedy="keep it within the extent for every unit",
        )


def read(units: Units, data: torch.Tensor, at: Window) -> torch.Tensor:
    """The elements of a window, with unit axes in front; elements that do not exist read as zero."""
    if 0 in data.shape[units.rank :]:
        return data.new_zeros(_broadcast(at.axes))
    value = data[(*_own(units, data, ()), *at.axes)]
    return value if at.valid is None else torch.where(at.valid, value, torch.zeros_like(value))


def write(
    units: Units, data: torch.Tensor, update: torch.Tensor, at: Window, shared: Collection[int], what: str
) -> None:
    """Writes the window of every unit into `data` itself.

    Args:
        data: of extent 1 along the `shared` unit axes, whose units write into one tensor; of full extent along the
            others that the update or the window varies along.

    Raises:
        EvalError: two units write different values to one element.
    """
    index = (*_own(units, data, shared), *at.axes)
    grid = _broadcast((update, *index, *(() if at.valid is None else (at.valid,))))
    values = update.expand(grid)
    index = tuple(i.expand(grid) for i in index)
    if at.valid is not None:
        valid = at.valid.expand(grid)
        index = tuple(i[valid] for i in index)
        values = values[valid]
    data.index_put_(index, values)
    if any(grid[u] > 1 for u in shared):
        _check_alone(units, data, index, values, at, grid, what)


def _broadcast(tensors: Sequence[torch.Tensor]) -> tuple[int, ...]:
    """The shape of tensors of one rank, each axis full or of extent 1."""
    return tuple(max(extents) if 0 not in extents else 0 for extents in zip(*(t.shape for t in tensors), strict=True))


def _own(units: Units, data: torch.Tensor, shared: Collection[int]) -> tuple[torch.Tensor, ...]:
    """Along each unit axis, the index of the unit's own copy; 0 where there is one for all."""
    rank = data.dim()
    result = []
    for u in range(units.rank):
        along = [1] * rank
        along[u] = 1 if u in shared else data.shape[u]
        result.append(torch.arange(along[u], device=data.device).reshape(along))
    return tuple(result)


def _check_alone(
    units: Units,
    data: torch.Tensor,
    index: tuple[torch.Tensor, ...],
    values: torch.Tensor,
    at: Window,
    grid: tuple[int, ...],
    what: str,
) -> None:
    """Of two units that write one element, one finds there what it did not write, unless they write the same."""
    found = data[index]
    differs = found != values
    if values.is_floating_point():
        differs &= ~(found.isnan() & values.isnan())
    if not differs.any():
        return
    first = tuple(differs.nonzero()[0])
    element = tuple(int(i[first]) for i in index[units.rank :])
    if at.valid is None:
        unit = [int(i) for i in first[: units.rank]]
    else:
        unit = [int(i) for i in at.valid.expand(grid).nonzero()[int(first[0])][: units.rank]]
    varying = [u for u in range(units.rank) if grid[u] > 1]
    raise EvalError(
        f"{what}: element {element} is written by several units with different values: {units.name(unit, varying)} "
        f"writes {values[first].item()}, another writes {found[first].item()}",
        remedy="let the windows of the units be disjoint: offset them by a mesh coordinate",
    )
