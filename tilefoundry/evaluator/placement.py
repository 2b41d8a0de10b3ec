"""The parts of a tensor that units own, as a logical tensor and as a part for each unit.

In a logical tensor the elements of all owners lie side by side. Viewed by *factors* it has an axis for every unit axis
that splits it; moving these in front gives what each unit owns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.units import Extent, Units
from tilefoundry.ir.shard import Dynamic, ShardLayout, group_modes
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True)
class Placement:
    """A shard layout with its extents known.

    Attributes:
        shape: the logical shape.
        factors: for each axis of `grid`, its factors: the unit axis that splits it, or None, and the extent.
        grid: the axes that are factored: those of the shape, or the modes where a mode straddles two axes.
    """

    shape: tuple[int, ...]
    grid: tuple[int, ...]
    factors: tuple[tuple[tuple[int | None, int], ...], ...]

    @property
    def flat(self) -> tuple[tuple[int | None, int], ...]:
        """All factors in order."""
        return tuple(f for axis in self.factors for f in axis)

    def owners(self) -> frozenset[int]:
        """The unit axes that split the tensor."""
        return frozenset(u for u, _ in self.flat if u is not None)

    def local_shape(self, units: Collection[int]) -> tuple[int, ...]:
        """The shape of what each coordinate along `units` owns, axis by axis of `grid`."""
        return tuple(math.prod(n for u, n in axis if u not in units) for axis in self.factors)


def placement_of(units: Units, type_: TensorType, shape: Sequence[int], extent: Extent) -> Placement:
    """The placement of a tensor of this type and concrete shape.

    Raises:
        EvalError: elements that nobody owns: a mode does not divide among the units, or the placement is Dynamic.
    """
    shape = tuple(shape)
    layout = type_.layout
    if not isinstance(layout, ShardLayout):
        return Placement(shape, shape, tuple(((None, n),) for n in shape))
    if any(isinstance(a, Dynamic) for a in layout.attrs):
        raise EvalError("the placement is Dynamic: which unit owns an element is unknown", remedy="tf.reshard it")
    modes = [extent(n) for n in layout.shape]
    factored = [_factor(units, layout, k, n, extent) for k, n in enumerate(modes)]
    groups = group_modes(modes, shape)
    if groups is None:
        return Placement(shape, tuple(modes), tuple(factored))
    return Placement(shape, shape, tuple(tuple(f for k in group for f in factored[k]) for group in groups))


def _factor(
    units: Units, layout: ShardLayout, mode: int, size: int, extent: Extent
) -> tuple[tuple[int | None, int], ...]:
    owners = [u for m in layout.splitters(mode) for u in units.of(layout.mesh, m)]
    count = math.prod(units.axes[u].extent for u in owners)
    part, left = divmod(size, count)
    if left:
        raise EvalError(
            f"mode {mode} of extent {size} does not divide among {count} units: the last {left} element(s) along it "
            f"are owned by nobody",
            remedy=f"give it a multiple of {count}, or split another axis",
        )
    split = tuple((u, units.axes[u].extent) for u in owners)
    return (*split, (None, part)) if part != 1 or not split else split


def by_factors(units: Units, placement: Placement, data: torch.Tensor) -> torch.Tensor:
    """Unit axes and logical shape, viewed as unit axes and factors."""
    return data.reshape(tuple(data.shape[: units.rank]) + tuple(n for _, n in placement.flat))


def owned(units: Units, placement: Placement, data: torch.Tensor, axes: Collection[int]) -> torch.Tensor:
    """What each coordinate along the unit axes `axes` owns: these axes get their extents, the rest becomes local.

    Args:
        data: unit axes, those in `axes` of extent 1, and the logical shape.

    Returns:
        Unit axes and `placement.local_shape(axes)`; where a mode straddles two axes, local modes.
    """
    view = by_factors(units, placement, data)
    where = {u: units.rank + i for i, (u, _) in enumerate(placement.flat) if u is not None and u in axes}
    # an owner's factor takes the place of its unit axis, which has extent 1 and is dropped
    order = [where.get(u, u) for u in range(units.rank)]
    order += [units.rank + i for i, (u, _) in enumerate(placement.flat) if u not in axes]
    order += [u for u in range(units.rank) if u in where]
    view = view.permute(order)
    shape = tuple(view.shape[: units.rank]) + placement.local_shape(frozenset(where))
    return view.reshape(shape)


def joined(units: Units, placement: Placement, local: torch.Tensor, axes: Collection[int]) -> torch.Tensor:
    """The inverse of `owned`: unit axes, of extent 1 along `axes`, and the logical shape."""
    inside = {u: i for i, (u, _) in enumerate(placement.flat) if u is not None and u in axes}
    lead = tuple(units.axes[u].extent if u in inside else local.shape[u] for u in range(units.rank))
    kept = tuple(n for u, n in placement.flat if u not in inside)
    view = local.expand(lead + tuple(local.shape[units.rank :])).reshape(lead + kept)
    position = iter(range(units.rank, units.rank + len(kept)))
    order = [u for u in range(units.rank) if u not in inside]
    order += [u if u is not None and u in inside else next(position) for u, _ in placement.flat]
    shape = tuple(1 if u in inside else lead[u] for u in range(units.rank))
    return view.permute(order).reshape(shape + placement.shape)


def ownership(units: Units, placement: Placement, axes: Collection[int], device: torch.device) -> torch.Tensor:
    """Which elements each coordinate along the unit axes `axes` owns: over these unit axes and the logical shape."""
    rank = units.rank + len(placement.flat)
    full = (1,) * units.rank + tuple(n for _, n in placement.flat)
    mask = torch.ones(full, dtype=torch.bool, device=device)
    for i, (u, n) in enumerate(placement.flat):
        if u is not None and u in axes:
            along = [1] * rank
            along[u] = along[units.rank + i] = n
            mask = mask & torch.eye(n, dtype=torch.bool, device=device).reshape(along)
    return mask.reshape(tuple(mask.shape[: units.rank]) + placement.shape)


def picked(units: Units, placement: Placement, data: torch.Tensor, axes: Collection[int]) -> torch.Tensor:
    """Of logical tensors that differ along `axes`, for each element the one of its owner."""
    view = by_factors(units, placement, data)
    for i, (u, _) in enumerate(placement.flat):
        if u is not None and u in axes and view.shape[u] > 1:
            at = units.rank + i
            diagonal = torch.diagonal(view, dim1=u, dim2=at)  # both go, their diagonal comes last
            view = diagonal.movedim(-1, at - 1).unsqueeze(u)
    return view.reshape(tuple(view.shape[: units.rank]) + placement.shape)
