"""Quant: groups of elements scaled to the range of an 8-bit float."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import float_operand, normalize_axis
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.hir.refine import refined
from tilefoundry.ir.types import DType, TensorType, TupleType, resolve_dtype

FP8_MAX = 448.0  # the greatest finite fp8e4m3


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class Quant(Op):
    """(q, scale): each `group` neighbours of the last axis share a scale, the largest |x| over 448; q is x / scale.

    Shapes: x (*A, N) -> (*A, N), (*A, N // group)

    `q` is of `target`, clamped to -448..448, and `scale` of f32; x is about q * scale. A group of zeros has
    the scale 1.

    Attributes:
        scheme: "per_token_group", the only one.
        target: fp8e4m3, the only one.
    """

    x: ClassVar[ParamDef] = ParamDef()
    scheme: str = "per_token_group"
    group: int = 128
    target: DType = DType.fp8e4m3

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", resolve_dtype(self.target))
        if self.scheme != "per_token_group":
            raise WrongValueError(f"quant: unknown scheme {self.scheme!r}", remedy='use "per_token_group"')
        if self.target is not DType.fp8e4m3:
            raise WrongValueError(f"quant: target must be fp8e4m3, got {self.target}", remedy="leave target out")
        if plain_int("quant", "group", self.group) < 1:
            raise WrongValueError(f"quant: group must be 1 or more, got {self.group}", remedy="write group=128")

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TupleType:  # type: ignore[override]
        """`x` of `target`, and the scales. A group that is split over mesh axes is combined by the op. No Partial."""
        t = float_operand(ctx, "x", x)
        last = normalize_axis(-1, t.rank)
        if not dim_equal(dim_mod(t.shape[last], self.group), 0):
            ctx.error(
                f"the last axis of {t} is not known to be a multiple of the group, {self.group}: "
                f"its extent is {format_dim(t.shape[last])}",
                "choose a group that divides it, or pad it",
            )
        shape = (*t.shape[:last], dim_floordiv(t.shape[last], self.group))
        operand = Placed("x", refined(t, (*shape, self.group)), tuple(range(t.rank + 1)))
        layout = propagate(ctx, (operand,), tuple(range(t.rank)), shape, t.storage)
        scale = TensorType(shape, DType.f32, layout, t.storage)
        return TupleType((identity_type(ctx, t, (), self.target), scale))
