"""RMSNorm: the last axis scaled to a root mean square of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import float_operand, normalize_axis, real_attribute
from tilefoundry.ir.hir.norm.scaled import scaled_type
from tilefoundry.ir.types import TensorType


@register_op(category="norm", name="rms_norm")
@dataclass(frozen=True, slots=True)
class RMSNorm(Op):
    """``x * rsqrt(mean(x**2) + eps) * weight`` over the last axis, in f32 (f64 for f64), rounded once to x's dtype.

    Shapes: x (*A, N), weight (N) -> (*A, N)

    `weight` has the dtype of `x` or f32. It is applied before the rounding.
    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).
    """

    x: ClassVar[ParamDef] = ParamDef()
    weight: ClassVar[ParamDef] = ParamDef()
    eps: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", float(real_attribute("rms_norm", "eps", self.eps)))
        if self.eps < 0:
            raise WrongValueError(f"rms_norm: eps must not be negative, got {self.eps}", remedy="write eps=1e-6")

    def type_rule(self, ctx: TypeContext, x: Expr | int, weight: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. No Partial passes."""
        t = float_operand(ctx, "x", x)
        return scaled_type(ctx, t, (("weight", float_operand(ctx, "weight", weight)),), normalize_axis(-1, t.rank))
