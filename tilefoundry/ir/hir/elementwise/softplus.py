"""Softplus: a smooth maximum of zero and the operand."""

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
class Softplus(Op):
    """``log(1 + exp(x))``, and `x` itself above 20, as ``torch.nn.functional.softplus``.

    Shapes: x (*A) -> A

    Computed in f32 (f64 for f64) and rounded once to the dtype of `x`.
    """

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. Maxima and minima pass through: softplus rises everywhere."""
        return identity_type(ctx, float_operand(ctx, "x", x), ("max", "min"))
