"""ShapeOf: the extents of a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.types import TensorType


@register_op(category="shape", name="shape_of")
@dataclass(frozen=True, slots=True)
class ShapeOf(Op):
    """The logical extents of `x`, wherever and in whatever state it is: i64, one for each axis.

    Shapes: x (*A) -> (len(A),)
    """

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """A vector of i64 in umat."""
        return TensorType.umat_tensor((tensor_operand(ctx, "x", x).rank,))
