"""Unsqueeze: an axis of extent 1 more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import normalize_axis, tensor_operand
from tilefoundry.ir.hir.shape.reshape import Reshape
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Unsqueeze(Op):
    """`x` with an axis of extent 1 more, which is axis `axis` of the result. A view, as the `Reshape` that it is.

    Shapes: x (*A, *B) -> (*A, 1, *B)
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int

    def __post_init__(self) -> None:
        plain_int("unsqueeze", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape with a 1 at `axis`; placement and Partial carried."""
        return self.reshape(tensor_operand(ctx, "x", x)).type_rule(ctx, x)

    def reshape(self, t: TensorType) -> Reshape:
        """The reshape that this is for an operand of type `t`."""
        axis = normalize_axis(self.axis, t.rank + 1)
        return Reshape((*t.shape[:axis], 1, *t.shape[axis:]))
