"""CumSum: running sums along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.reduce.along import ordered_operand
from tilefoundry.ir.types import TensorType


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class CumSum(Op):
    """Element k along `axis` is the sum of the elements 0..k, in the dtype of `x`: floats are added in f32 (f64 for
    f64) and rounded once, integers wrap.

    Shapes: x (*A) -> A
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int = -1

    def __post_init__(self) -> None:
        plain_int("cumsum", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. The axis must not be split; Partial sums pass through, since sums commute."""
        t, _ = ordered_operand(ctx, x, self.axis, "summed")
        return identity_type(ctx, t, ("sum",))
