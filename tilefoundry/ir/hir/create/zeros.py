"""Zeros: a tensor of zeros."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import Op, TypeContext, register_op
from tilefoundry.ir.types import DType, TensorType


@register_op(category="create")
@dataclass(frozen=True, slots=True)
class Zeros(Op):
    """A tensor of exactly `type` whose elements are zero (False).

    Shapes: -> type.shape
    """

    type: TensorType

    def __post_init__(self) -> None:
        if not isinstance(self.type, TensorType):
            raise WrongTypeError(
                f"zeros: type must be a tensor type, got {self.type!r}", remedy='write type=Tensor[(8,), "i32"]'
            )

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """`type` itself."""
        if self.type.dtype is DType.f8e8m0:
            ctx.error("f8e8m0 holds powers of two, and has no zero", "make zeros of another dtype")
        return self.type
