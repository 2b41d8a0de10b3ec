"""TupleGetItem: one of several values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr, type_of
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.core.type import TupleType, Type


@register_op(category="shape", name="tuple_get_item")
@dataclass(frozen=True, slots=True)
class TupleGetItem(Op):
    """Field `index` of a tuple value.

    Shapes: t -> t[index]
    """

    t: ClassVar[ParamDef] = ParamDef()
    index: int

    def __post_init__(self) -> None:
        if isinstance(self.index, bool) or not isinstance(self.index, int):
            raise WrongTypeError(
                f"tuple_get_item: index must be a plain int, got {self.index!r}", remedy="write a number"
            )

    def type_rule(self, ctx: TypeContext, t: Expr | int) -> Type:  # type: ignore[override]
        """The type of the field."""
        type_ = type_of(t)
        if not isinstance(type_, TupleType):
            ctx.error(f"expected a tuple, got {type_}", "take fields of what returns several values")
        if not 0 <= self.index < len(type_.fields):
            ctx.error(f"index {self.index} is out of range for a tuple of {len(type_.fields)}", "count from 0")
        return type_.fields[self.index]
