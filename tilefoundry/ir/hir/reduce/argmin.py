"""ArgMin: where the least element of an axis is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.reduce.along import ordered_operand, without_axis
from tilefoundry.ir.types import DType, TensorType


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class ArgMin(Op):
    """The index (i64) of the least element along `axis`, which the result lacks; of several, the first; NaN wins.

    Shapes: x (*A, N, *B) -> (*A, *B)
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int = -1

    def __post_init__(self) -> None:
        plain_int("argmin", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape without the axis, of i64. The axis must not be split, nor empty; no Partial passes."""
        t, axis = ordered_operand(ctx, x, self.axis, "searched")
        if t.shape[axis] == 0:
            ctx.error(f"axis {axis} of {t} is empty and has no least element", "give it an extent of 1 or more")
        return without_axis(ctx, t, axis, DType.i64)
