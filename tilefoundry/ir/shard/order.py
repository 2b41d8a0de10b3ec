"""Register fragments that list their modes in another order than the axes do."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.shard.attrs import Split
from tilefoundry.ir.shard.canonical import is_per_unit, per_unit_strides, with_strides
from tilefoundry.ir.shard.group import group_modes
from tilefoundry.ir.shard.layout import Layout, c_order_strides
from tilefoundry.ir.shard.shard_layout import ShardLayout


def in_axis_order(sl: ShardLayout, shape: Sequence[Dim]) -> ShardLayout:
    """The distribution of a fragment in registers with the modes of each axis outermost first, as all others have them.

    Instruction fragments (`tilefoundry.ir.atoms`) are written innermost mode first, with steps in the row-major matrix
    as strides: those say the order. Elementwise results of such a fragment have the modes, with strides of their own;
    modes that make up the axes only when read from the last to the first are in that order too. Every other layout is
    returned as it is.
    """
    strides = sl.layout.strides
    modes = range(len(sl.shape))
    if strides is None or not all(isinstance(v, int) for v in (*strides, *sl.shape, *shape)):
        return sl
    if not is_per_unit(sl):
        order = sorted(modes, key=lambda k: strides[k], reverse=True)
        extents = tuple(sl.shape[k] for k in order)
        if tuple(strides[k] for k in order) != c_order_strides(extents):
            return sl
    elif group_modes(sl.shape, shape) is None:
        order = list(reversed(modes))
        extents = tuple(sl.shape[k] for k in order)
    else:
        return sl
    if group_modes(extents, shape) is None:
        return sl
    attrs = tuple(Split(order.index(a.axis)) if isinstance(a, Split) else a for a in sl.attrs)
    ordered = ShardLayout(Layout(extents, extents), attrs, sl.mesh)
    return with_strides(ordered, per_unit_strides(ordered))
