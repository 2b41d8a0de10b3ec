"""Arange: numbers in even steps."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import Op, TypeContext, register_op
from tilefoundry.ir.types import IntegerDType, TensorType


@register_op(category="create")
@dataclass(frozen=True, slots=True)
class Arange(Op):
    """``start + step * k`` for each index k of a rank-1 tensor of `type` (i32 or i64)."""

    type: TensorType
    start: int = 0
    step: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.type, TensorType):
            raise WrongTypeError(
                f"arange: type must be a tensor type, got {self.type!r}", remedy='write type=Tensor[(8,), "i32"]'
            )
        for name, value in (("start", self.start), ("step", self.step)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise WrongTypeError(f"arange: {name} must be a plain int, got {value!r}", remedy="write a number")

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """`type` itself."""
        if self.type.rank != 1:
            ctx.error(f"type must have rank 1, got {self.type}", "reshape the result")
        if not isinstance(self.type.dtype, IntegerDType) or self.type.dtype.bits < 32:
            ctx.error(f"type must be of i32 or i64, got {self.type.dtype}", "cast the result")
        return self.type
