"""The coordinates of the running instance, as i64 scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.tir.ops.base import ValueOp
from tilefoundry.ir.tir.ops.rules import index
from tilefoundry.ir.types import INDEX_TYPE, TensorType


@register_op(dialect="T", category="program", name="program_id")
@dataclass(frozen=True, slots=True)
class ProgramId(ValueOp):
    """``ProgramId("cta")()``: linear id of the instance at a topology level."""

    level: str

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """An index."""
        return INDEX_TYPE


@register_op(dialect="T", category="program", name="program_dim")
@dataclass(frozen=True, slots=True)
class ProgramDim(ValueOp):
    """``ProgramDim("cta")()``: number of instances at a topology level (the launched grid, where that is dynamic)."""

    level: str

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """An index."""
        return INDEX_TYPE


@register_op(dialect="T", category="program", name="index")
@dataclass(frozen=True, slots=True)
class Index(ValueOp):
    """``Index()(value)``: names an i64 scalar that several statements use."""

    value: ClassVar[ParamDef] = ParamDef()

    def type_rule(self, ctx: TypeContext, value: Expr | int) -> TensorType:  # type: ignore[override]
        """An index."""
        index(ctx, "value", value)
        return INDEX_TYPE
