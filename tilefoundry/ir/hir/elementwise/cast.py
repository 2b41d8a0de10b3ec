"""Cast: another element type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.types import DType, TensorType, resolve_dtype


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Cast(Op):
    """`x` with elements of `dtype` (a DType or its name): floats round to nearest even, floats to integers truncate.

    Shapes: x (*A) -> A
    """

    x: ClassVar[ParamDef] = ParamDef()
    dtype: DType

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", resolve_dtype(self.dtype))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The type of `x` with the other dtype. No Partial passes: rounding does not commute with reductions."""
        return identity_type(ctx, tensor_operand(ctx, "x", x), (), self.dtype)
