"""FullLike: a constant of the type of another tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import check_value
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import TensorType


@register_op(category="elementwise", name="full_like")
@dataclass(frozen=True, slots=True)
class FullLike(Op):
    """A tensor of the type of `x` whose elements are all `value`.

    Shapes: x (*A) -> A
    """

    x: ClassVar[ParamDef] = ParamDef()
    value: bool | int | float

    def __post_init__(self) -> None:
        if not isinstance(self.value, (bool, int, float)):
            raise WrongTypeError(
                f"full_like: value must be a number, got {self.value!r}", remedy="write a Python number"
            )

    def __eq__(self, other: object) -> bool:
        # repr tells 0.0 from -0.0 and 1 from 1.0 from True, and nan from nothing
        return repr(self.value) == repr(other.value) if isinstance(other, FullLike) else NotImplemented

    def __hash__(self) -> int:
        return hash(("full_like", repr(self.value)))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x`. No Partial passes: a constant is complete."""
        t = tensor_operand(ctx, "x", x)
        check_value(ctx, self.value, t.dtype)
        return identity_type(ctx, t, ())
