"""Where: choose between two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import broadcast_shapes, common_dtype, merge_storage, tensor_operand
from tilefoundry.ir.hir.elementwise.placement import elementwise_layout
from tilefoundry.ir.types import DType, TensorType


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Where(Op):
    """``input`` where ``condition`` holds, else ``other``; the three broadcast against each other.

    Shapes: condition (*A), input (*B), other (*C) -> broadcast(A, B, C)
    """

    condition: ClassVar[ParamDef] = ParamDef()
    input: ClassVar[ParamDef] = ParamDef()
    other: ClassVar[ParamDef] = ParamDef()

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, condition: Expr | int, input: Expr | int, other: Expr | int
    ) -> TensorType:
        """Broadcast shape; the dtype of `input` and `other`; merged storage and placement."""
        names = ("condition", "input", "other")
        types = [tensor_operand(ctx, n, e) for n, e in zip(names, (condition, input, other), strict=True)]
        if types[0].dtype != DType.bool:
            ctx.error(f"condition must be bool, got {types[0].dtype}", "write a comparison, as in x > 0.0")
        dtype = common_dtype(ctx, (("input", input), ("other", other)))
        shape = broadcast_shapes(ctx, types)
        storage = merge_storage(ctx, types)
        return TensorType(shape, dtype, elementwise_layout(ctx, names, types, shape, storage), storage)
