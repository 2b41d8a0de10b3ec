"""Sort: the elements of an axis in order, and where they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import bool_attribute
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.reduce.along import ordered_operand
from tilefoundry.ir.types import DType, TensorType, TupleType


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class Sort(Op):
    """(values, indices): the elements along `axis` in ascending order, and the places (i64) where they were.

    Shapes: x (*A) -> A, A

    The sort is stable, so the result is defined where elements are equal. NaN counts as the greatest, as in torch.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int = -1
    descending: bool = False

    def __post_init__(self) -> None:
        plain_int("sort", "axis", self.axis)
        bool_attribute("sort", "descending", self.descending)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TupleType:  # type: ignore[override]
        """The type of `x`, and the same of i64. The axis must not be split; no Partial passes."""
        t, _ = ordered_operand(ctx, x, self.axis, "sorted")
        values: TensorType = identity_type(ctx, t, ())
        return TupleType((values, identity_type(ctx, t, (), DType.i64)))
