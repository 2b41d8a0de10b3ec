"""Arange: numbers in even steps."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import Op, TypeContext, register_op
from tilefoundry.ir.types import IntegerDType, TensorType


@register_op(category="create")
@dataclass(frozen=True, slots=True)
class Arange(Op):
    """``start + step * k`` for each index k of a rank-1 tensor of `type` (i32 or i64).

    Shapes: -> type.shape
    """

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
        if isinstance(extent := self.type.shape[0], int) and (beyond := self.beyond(extent)) is not None:
            low, high = self.type.dtype.range
            ctx.error(f"{beyond} is no value of {self.type.dtype}, which holds {low}..{high}", 'make it of "i64"')
        return self.type

    def beyond(self, extent: int) -> int | None:
        """A number that the dtype does not hold, among so many; None when it holds all."""
        assert isinstance(self.type.dtype, IntegerDType)
        low, high = self.type.dtype.range
        ends = (self.start, self.start + self.step * (extent - 1)) if extent else ()
        return next((end for end in ends if not low <= end <= high), None)
