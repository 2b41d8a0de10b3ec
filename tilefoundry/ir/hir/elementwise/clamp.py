"""Clamp: elements kept between two numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import real_attribute, tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import BoolDType, IntegerDType, TensorType


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Clamp(Op):
    """``min(max(x, min_val), max_val)``, as ``torch.clamp``: NaN stays NaN, and max_val wins where it is the lesser.

    Shapes: x (*A) -> A

    The bounds are rounded to the dtype of `x`; an integer `x` takes integers that its dtype holds.
    """

    x: ClassVar[ParamDef] = ParamDef()
    min_val: float
    max_val: float

    def __post_init__(self) -> None:
        real_attribute("clamp", "min_val", self.min_val)
        real_attribute("clamp", "max_val", self.max_val)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. Maxima and minima pass through: clamp falls nowhere."""
        t = tensor_operand(ctx, "x", x)
        if isinstance(t.dtype, BoolDType):
            ctx.error("does not accept a bool operand", "cast it to a number type")
        if isinstance(t.dtype, IntegerDType):
            low, high = t.dtype.range
            for name, value in (("min_val", self.min_val), ("max_val", self.max_val)):
                if isinstance(value, float) or not low <= value <= high:
                    ctx.error(f"{name} {value!r} is no value of {t.dtype}, which holds {low}..{high}", "use an integer")
        return identity_type(ctx, t, ("max", "min"))
