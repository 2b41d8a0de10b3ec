"""Which modes of a canonical shape make up which logical axis."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.dims.arith import dim_mul
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim


def group_modes(modes: Sequence[Dim], shape: Sequence[Dim]) -> tuple[tuple[int, ...], ...] | None:
    """For each logical axis, the consecutive modes whose extents multiply to its extent.

    An axis of extent 1 takes one mode of extent 1 when that stands next, else none; modes of extent 1 that are left
    over belong to the axis before them.

    Returns:
        Indices of modes for each axis, or None when a mode straddles two axes (or the extents cannot be matched).
    """
    groups: list[tuple[int, ...]] = []
    at = 0
    for extent in shape:
        start, product = at, 1  # type: int, Dim
        if extent == 1:
            if at < len(modes) and modes[at] == 1:
                at += 1
        else:
            while not dim_equal(product, extent):
                if at == len(modes):
                    return None
                product = dim_mul(product, modes[at])
                at += 1
        groups.append(tuple(range(start, at)))
    if any(modes[k] != 1 for k in range(at, len(modes))) or (at < len(modes) and not groups):
        return None if groups or at < len(modes) else ()
    if at < len(modes):
        groups[-1] = (*groups[-1], *range(at, len(modes)))
    return tuple(groups)
