"""The type of a result that lies where its one operand lies."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.hir.modes import axis_name
from tilefoundry.ir.shard import ComposedLayout, Partial, ShardLayout
from tilefoundry.ir.types import DType, TensorType


def identity_type(ctx: TypeContext, t: TensorType, passes: Sequence[str], dtype: DType | None = None) -> TensorType:
    """`t` with another dtype where one is given; a Partial of a reduction that is not in `passes` is refused.

    The layout of a window becomes a row-major one: the result is a fresh value, without the window's offset.
    """
    layout = t.layout
    if isinstance(layout, ShardLayout):
        for axis, attr in enumerate(layout.attrs):
            if isinstance(attr, Partial) and attr.reduction not in passes:
                where = axis_name(layout.mesh, axis)
                ctx.error(
                    f"the value is {attr} along mesh axis '{where}' and cannot pass through in that state",
                    "complete it first by an explicit tf.reshard",
                )
    elif isinstance(layout, ComposedLayout):
        layout = fresh_plain(t.shape, t.storage)
    return TensorType(t.shape, dtype if dtype is not None else t.dtype, layout, t.storage)
