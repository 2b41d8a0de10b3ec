"""Gelu: the Gaussian error linear unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import float_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import TensorType

_APPROXIMATIONS = ("tanh", "none")


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Gelu(Op):
    """``x * Phi(x)``, Phi the distribution function of the normal distribution; in f32 (f64 for f64), rounded once.

    Shapes: x (*A) -> A

    Attributes:
        approximate: "none" computes ``x/2 (1 + erf(x / sqrt 2))``, "tanh" (the default)
            ``x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3)))``; as ``torch.nn.functional.gelu``, whose default differs.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016).
    """

    x: ClassVar[ParamDef] = ParamDef()
    approximate: str = "tanh"

    def __post_init__(self) -> None:
        if self.approximate not in _APPROXIMATIONS:
            raise WrongValueError(
                f"gelu: unknown approximation {self.approximate!r}", remedy=f"use one of {', '.join(_APPROXIMATIONS)}"
            )

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. No Partial passes: gelu falls and rises."""
        return identity_type(ctx, float_operand(ctx, "x", x), ())
