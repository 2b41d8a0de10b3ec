"""Row norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import same_dtype, same_part, tensor, written


@register_op(dialect="T", category="norm", name="rms_norm")
@dataclass(frozen=True, slots=True)
class RMSNorm(EffectOp):
    """``RMSNorm(eps)(src, weight, dst)``: src * rsqrt(mean(src ** 2, last axis) + eps) * weight, in f32.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
    """

    src: ClassVar[ParamDef] = ParamDef()
    weight: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    eps: float = 1e-6

    reads: ClassVar[tuple[int, ...]] = (0, 1)
    writes: ClassVar[tuple[int, ...]] = (2,)
    collective: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.eps, bool) or not isinstance(self.eps, (int, float)):
            raise WrongTypeError(f"rms_norm: eps must be a number, got {self.eps!r}", remedy="write eps=1e-6")

    def check(self, ctx: TypeContext, src: Expr, weight: Expr, dst: Expr) -> None:  # type: ignore[override]
        """Float rows; a weight for each element of the last axis."""
        a, w, b = tensor(ctx, "src", src), tensor(ctx, "weight", weight), written(ctx, "dst", dst)
        if not a.dtype.is_float:
            ctx.error(f"'src' must have float elements, got {a.dtype}", remedy="cast it first: T.cast(src, dst)")
        if a.rank < 1 or w.rank != 1 or not dim_equal(w.shape[0], a.shape[-1]):
            ctx.error(
                f"'weight' must have the shape of the last axis of {a.shape}, got {w.shape}",
                remedy="give one weight for each element of the last axis",
            )
        same_dtype(ctx, "src", a.dtype, "dst", b.dtype)
        same_part(ctx, "src", a, "dst", b)
