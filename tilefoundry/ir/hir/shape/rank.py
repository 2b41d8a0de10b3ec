"""Rank: how many axes a tensor has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Rank(Op):
    """The number of axes of `x`, wherever and in whatever state it is: a scalar i64.

    Shapes: x (*A) -> ()
    """

    x: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """A scalar i64 in umat."""
        tensor_operand(ctx, "x", x)
        return TensorType.umat_scalar()
