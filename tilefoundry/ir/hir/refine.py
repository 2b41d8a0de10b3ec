"""A tensor seen with some of its axes factored in two, as the groups of heads or of elements are."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.shard import Layout, ShardLayout, Split
from tilefoundry.ir.types import TensorType


def refined(t: TensorType, shape: Sequence[Dim]) -> TensorType:
    """`t` under a shape that factors its axes, for `propagate`: strides are dropped.

    Modes that nothing splits are factored as the shape asks; one that is split and straddles two axes stays, and is
    refused where the axes must be told apart.
    """
    layout = t.layout
    if isinstance(layout, ShardLayout):
        layout = _refined(layout, shape)
    elif layout is not None:
        layout = fresh_plain(shape, t.storage)
    return TensorType(tuple(shape), t.dtype, layout, t.storage)


def _refined(sl: ShardLayout, shape: Sequence[Dim]) -> ShardLayout:
    modes: list[Dim] = []
    moved: dict[int, int] = {}
    left = [(k, extent) for k, extent in enumerate(sl.shape) if extent != 1 or sl.splitters(k)][::-1]
    for extent in shape:
        need = extent
        while left and not dim_equal(need, 1):
            k, mode = left.pop()
            if dim_equal(mode, need) or _divides(mode, need):
                moved[k] = len(modes)
                modes.append(mode)
                need = 1 if dim_equal(mode, need) else dim_floordiv(need, mode)
            elif not sl.splitters(k) and _divides(need, mode):
                modes.append(need)
                left.append((k, dim_floordiv(mode, need)))
                need = 1
            else:
                return sl
    for k, mode in reversed(left):  # modes of extent 1 behind the last axis
        moved[k] = len(modes)
        modes.append(mode)
    attrs = tuple(Split(moved[a.axis]) if isinstance(a, Split) else a for a in sl.attrs)
    return ShardLayout(Layout(tuple(modes)), attrs, sl.mesh)


def _divides(part: Dim, whole: Dim) -> bool:
    return part != 0 and dim_equal(dim_mod(whole, part), 0)
