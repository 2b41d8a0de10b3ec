"""Expand: axes of extent 1 repeated, and new axes in front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import extents
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import carried, whole_axis
from tilefoundry.ir.hir.propagate import Label, Placed, propagate
from tilefoundry.ir.shard import format_int_tuple
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Expand(Op):
    """`x` under `new_shape`, as ``torch.Tensor.expand``: an axis of extent 1 takes any extent, -1 keeps an extent.

    Shapes: x (*A) -> new_shape

    Axes that `x` lacks come in front. Placement: expanded and new axes are whole, others carry their splits.
    Partial: carried.
    """

    x: ClassVar[ParamDef] = ParamDef()
    new_shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "new_shape", extents("expand", "new_shape", self.new_shape))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """`new_shape`, with -1 replaced."""
        t = tensor_operand(ctx, "x", x)
        new = len(self.new_shape) - t.rank
        if new < 0:
            ctx.error(
                f"new_shape {format_int_tuple(self.new_shape)} lacks some of the {t.rank} axes of {t}",
                "give an extent, or -1, for each axis",
            )
        shape: list[Dim] = []
        labels: list[Label] = []
        for axis, extent in enumerate(self.new_shape):
            own = t.shape[axis - new] if axis >= new else None
            if isinstance(extent, int) and extent < 0 and (own is None or extent != -1):
                ctx.error(f"the extent of axis {axis} is {format_dim(extent)}", "-1 keeps the extent of an axis of x")
            kept = own is not None and (extent == -1 or dim_equal(own, extent))
            if own is not None and not kept:
                if own != 1:
                    equal_extents(ctx, f"an extent other than 1 and its new one, of axis {axis},", own, extent)
                whole_axis(ctx, "x", t, axis - new, "expanded")
            shape.append(own if kept and own is not None else extent)
            labels.append(axis - new if kept else None)
        own_labels = tuple(labels[new:])
        layout = propagate(ctx, (Placed("x", t, own_labels),), labels, shape, t.storage, partial_rule=carried)
        return TensorType(tuple(shape), t.dtype, layout, t.storage)
