"""The same placement over other factors: what is not split may be cut anywhere, what is split only behind its units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard import Dynamic, Layout, ShardLayout, Split, per_unit_strides, shared_strides, with_strides


@dataclass(frozen=True, slots=True)
class Factor:
    """A mode, or a part of one; `axes` are the mesh axes that split it, one unit for each element."""

    extent: int
    stride: int
    axes: tuple[int, ...] = ()


def refactored(sl: ShardLayout, shape: Sequence[Dim]) -> ShardLayout | None:
    """`sl` with modes that make up the axes of `shape`, or None when a split mode would be cut, or is symbolic."""
    extents = [e for e in shape if isinstance(e, int) and e > 0]
    strides = sl.layout.strides
    fresh = [rule for rule in (per_unit_strides, shared_strides) if strides == rule(sl)]
    factors = _factors(sl, keep_strides=not fresh)
    if factors is None or len(extents) != len(shape) or any(isinstance(a, Dynamic) for a in sl.attrs):
        return None
    modes: list[Factor] = []
    left = _merged(factors, by_stride=not fresh)[::-1]
    for extent in extents:
        cut = _cut(left, extent)
        if cut is None:
            return None
        modes.extend(cut)
    modes.extend(reversed(left))  # of extent 1
    attrs = list(sl.attrs)
    for k, mode in enumerate(modes):
        for axis in mode.axes:
            attrs[axis] = Split(k)
    plain = Layout(tuple(m.extent for m in modes), tuple(m.stride for m in modes) if strides is not None else None)
    result = ShardLayout(plain, tuple(attrs), sl.mesh)
    return with_strides(result, fresh[0](result)) if fresh else result


def _factors(sl: ShardLayout, keep_strides: bool) -> list[Factor] | None:
    """The modes, those that are longer than their mesh axes in two: the units, and what each of them holds."""
    factors: list[Factor] = []
    for k, extent in enumerate(sl.shape):
        stride = sl.layout.strides[k] if sl.layout.strides is not None else 0
        axes = sl.splitters(k)
        units = [sl.mesh.shape[axis] for axis in axes]
        if not isinstance(extent, int) or not isinstance(stride, int) or not all(isinstance(u, int) for u in units):
            return None
        count = prod(u for u in units if isinstance(u, int))
        if not axes and extent == 1:
            continue
        if not axes or extent == count:
            factors.append(Factor(extent, stride, axes))
        elif keep_strides or count == 0 or extent % count:
            return None  # such a mode has no stride for its units
        else:
            factors += [Factor(count, 0, axes), Factor(extent // count, 0)]
    return factors


def _merged(factors: list[Factor], by_stride: bool) -> list[Factor]:
    """Neighbours that nothing splits as one, where one stride steps through both: in a fresh layout it does."""
    merged: list[Factor] = []
    for factor in factors:
        before = merged[-1] if merged else None
        if (
            before is not None
            and not before.axes
            and not factor.axes
            and (not by_stride or before.stride == factor.extent * factor.stride)
        ):
            merged[-1] = Factor(before.extent * factor.extent, factor.stride)
        else:
            merged.append(factor)
    return merged


def _cut(left: list[Factor], extent: int) -> list[Factor] | None:
    """Takes factors from the end of `left` that make up an axis of this extent."""
    modes: list[Factor] = []
    while extent > 1:
        if not left:
            return None
        factor = left.pop()
        if factor.extent and extent % factor.extent == 0:
            modes.append(factor)
            extent //= factor.extent
        elif not factor.axes and factor.extent % extent == 0:
            rest = factor.extent // extent
            modes.append(Factor(extent, rest * factor.stride))
            left.append(Factor(rest, factor.stride))
            extent = 1
        else:
            return None
    return modes or [Factor(1, 0)]
