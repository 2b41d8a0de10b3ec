"""Silu: the sigmoid-weighted linear unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import float_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import TensorType


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Silu(Op):
    """``x / (1 + exp(-x))``, in f32 (f64 for f64), rounded once to the dtype of `x`.

    Shapes: x (*A) -> A

    Source: Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units" (2017); the same as Swish.
    """

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. No Partial passes: silu falls and rises."""
        return identity_type(ctx, float_operand(ctx, "x", x), ())
