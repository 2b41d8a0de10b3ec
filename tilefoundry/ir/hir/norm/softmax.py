"""Softmax: exponentials that add up to one along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import float_operand, normalize_axis
from tilefoundry.ir.hir.derive import known_placement
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import TensorType


@register_op(category="norm")
@dataclass(frozen=True, slots=True)
class Softmax(Op):
    """``exp(x - max x) / sum exp(x - max x)`` along `axis`, in f32 (f64 for f64), rounded once to the dtype of `x`.

    Shapes: x (*A) -> A

    The maximum is subtracted so that no exponential overflows. An axis that is split over mesh axes stays split: the
    op itself combines what the units hold.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int = -1

    def __post_init__(self) -> None:
        plain_int("softmax", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. No Partial passes."""
        t = float_operand(ctx, "x", x)
        normalize_axis(self.axis, t.rank)
        known_placement("x", t)
        return identity_type(ctx, t, ())
