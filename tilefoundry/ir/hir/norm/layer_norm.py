"""LayerNorm: the axes from one on shifted and scaled to mean zero and variance one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import float_operand, normalize_axis, real_attribute
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.norm.scaled import scaled_type
from tilefoundry.ir.types import TensorType


@register_op(category="norm", name="layer_norm")
@dataclass(frozen=True, slots=True)
class LayerNorm(Op):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the axes from `axis` on, as ``torch.layer_norm``.

    Shapes: x (*A, *N), weight (*N), bias (*N) -> (*A, *N)

    `var` is the biased variance. `weight` and `bias` have the shape of the normalised axes and the dtype of `x` or f32.
    Computed in f32 (f64 for f64) and rounded once to the dtype of `x`.
    Source: Ba, Kiros and Hinton, "Layer Normalization" (2016).
    """

    x: ClassVar[ParamDef] = ParamDef()
    weight: ClassVar[ParamDef] = ParamDef()
    bias: ClassVar[ParamDef] = ParamDef()
    axis: int = -1
    eps: float = 1e-5

    def __post_init__(self) -> None:
        plain_int("layer_norm", "axis", self.axis)
        object.__setattr__(self, "eps", float(real_attribute("layer_norm", "eps", self.eps)))
        if self.eps < 0:
            raise WrongValueError(f"layer_norm: eps must not be negative, got {self.eps}", remedy="write eps=1e-5")

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, x: Expr | int, weight: Expr | int, bias: Expr | int
    ) -> TensorType:
        """The type of `x`. No Partial passes, and no mesh axis may split a normalised axis."""
        t = float_operand(ctx, "x", x)
        axis = normalize_axis(self.axis, t.rank)
        parameters = [(n, float_operand(ctx, n, e)) for n, e in (("weight", weight), ("bias", bias))]
        for normalised in range(axis, t.rank):
            whole_axis(ctx, "x", t, normalised, "normalised")
        return scaled_type(ctx, t, parameters, axis)
