"""The algebra of flat, static layouts, as functions from a linear index (leftmost mode fastest) to an index.

Definitions follow CuTe's layout algebra (https://docs.nvidia.com/cutlass: "CuTe layout algebra"). What has no answer
among layouts raises NotProjectable; nothing here is approximate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilefoundry.diagnostics import NotProjectable, WrongTypeError, WrongValueError
from tilefoundry.ir.shard.layout import IntTuple, Layout, size, static_modes

Modes = Sequence[tuple[int, int]]  # (extent, stride) pairs


def coalesce(layout: Layout) -> Layout:
    """The layout of fewest modes that is the same function of the linear index; ``(1):(0)`` for one element.

    Raises:
        NotProjectable: an extent or stride is symbolic.
    """
    return _layout(_coalesced(static_modes(layout)))


def is_inverse_projectable(layout: Layout) -> bool:
    """Whether an index tells its coordinate by dividing out the strides, greatest first.

    So it is when, of the modes longer than 1 and in order of stride, each stride is positive and divisible by all that
    the modes before it reach (the product of the last one's extent and stride).

    Raises:
        NotProjectable: an extent or stride is symbolic.
    """
    reached = 1
    for extent, stride in _by_stride(static_modes(layout)):
        if stride <= 0 or stride % reached:
            return False
        reached = extent * stride
    return size(layout) != 0


def complement(layout: Layout, cotarget: int = 1) -> Layout:
    """What `layout` leaves out: the modes of both together reach each index once, and all of those below `cotarget`.

    Raises:
        NotProjectable: `layout` is not inverse projectable, or an extent or stride is symbolic.
        WrongValueError: `cotarget` is not positive.
    """
    if isinstance(cotarget, bool) or not isinstance(cotarget, int):
        raise WrongTypeError(
            f"complement: cotarget must be a plain int, got {cotarget!r}", remedy="bind the extent first"
        )
    if cotarget < 1:
        raise WrongValueError(
            f"complement: cotarget must be positive, got {cotarget}", remedy="give the number of ids to complete to"
        )
    _require_projectable("complement", layout)
    modes: list[tuple[int, int]] = []
    reached = 1
    for extent, stride in _by_stride(static_modes(layout)):
        modes.append((stride // reached, reached))
        reached = extent * stride
    modes.append((-(-cotarget // reached), reached))
    return _layout(_coalesced(modes))


def right_inverse(layout: Layout) -> Layout:
    """The longest R with ``layout(R(k)) == k``.

    Raises:
        NotProjectable: an extent or stride is symbolic.
    """
    positioned: list[tuple[int, int, int]] = []
    before = 1
    for extent, stride in static_modes(layout):
        if extent != 1:
            positioned.append((stride, extent, before))
        before *= extent
    modes: list[tuple[int, int]] = []
    reached = 1
    for stride, extent, position in sorted(positioned):
        if stride == reached and extent:
            modes.append((extent, position))
            reached *= extent
    return _layout(_coalesced(modes))


def left_inverse(layout: Layout) -> Layout:
    """An L with ``L(layout(k)) == k`` for every k.

    Raises:
        NotProjectable: `layout` is not inverse projectable, or an extent or stride is symbolic.
    """
    rest = complement(layout)
    return right_inverse(_layout([*static_modes(layout), *static_modes(rest)]))


def composition(outer: Layout, inner: Layout) -> Layout:
    """R with ``R(k) == outer(inner(k))``, and one top-level mode for each flat mode of `inner`.

    Raises:
        NotProjectable: the composition is no layout, or `inner` leaves the domain of `outer`, or an extent or stride
            is symbolic.
    """
    digits = _coalesced(static_modes(outer))
    room = [extent - 1 for extent, _ in digits]  # how far each digit of an index may still grow without a carry
    shape: list[int | IntTuple] = []
    strides: list[int | IntTuple] = []
    for extent, stride in static_modes(inner):
        parts = _through(digits, room, extent, stride)
        if parts is None:
            raise NotProjectable(
                f"composition of {outer} with {inner}: the mode {extent}:{stride} does not follow the modes of {outer}",
                remedy="let extents and strides divide those of the outer layout, within its size",
            )
        shape.append(parts[0][0] if len(parts) == 1 else tuple(e for e, _ in parts))
        strides.append(parts[0][1] if len(parts) == 1 else tuple(s for _, s in parts))
    return Layout(tuple(shape), tuple(strides))


def _through(digits: Modes, room: list[int], extent: int, stride: int) -> Modes | None:
    """The modes of one inner mode seen through `digits`, whose room it takes; None when there are none."""
    if extent <= 1 or stride == 0:
        return [(extent, 0)]
    if stride < 0:
        return None
    parts: list[tuple[int, int]] = []
    for k, (outer_extent, outer_stride) in enumerate(digits):
        last = k == len(digits) - 1
        if stride % outer_extent == 0 and not last:
            stride //= outer_extent
            continue
        steps = extent if last else min(extent, outer_extent // stride)
        if not last and (outer_extent % stride or extent % steps):
            return None
        if (steps - 1) * stride > room[k]:
            return None
        room[k] -= (steps - 1) * stride
        if steps > 1:
            parts.append((steps, stride * outer_stride))
        extent //= steps
        stride = 1
        if extent == 1:
            return parts
    return None


def _require_projectable(what: str, layout: Layout) -> None:
    if not is_inverse_projectable(layout):
        raise NotProjectable(
            f"{what}: layout {layout} is not inverse projectable",
            remedy="each stride must be positive and divisible by what the smaller ones reach",
        )


def _by_stride(modes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(((e, s) for e, s in modes if e != 1), key=lambda mode: (mode[1], mode[0]))


def _coalesced(modes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for extent, stride in modes:
        if extent == 1:
            continue
        if result and result[-1][0] * result[-1][1] == stride:
            result[-1] = (result[-1][0] * extent, result[-1][1])
        else:
            result.append((extent, stride))
    return result or [(1, 0)]


def _layout(modes: Modes) -> Layout:
    return Layout(tuple(e for e, _ in modes), tuple(s for _, s in modes))
