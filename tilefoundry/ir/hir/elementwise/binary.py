"""Binary: two tensors, element by element, after right-aligned broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, inputs_of, register_alias, register_op
from tilefoundry.ir.hir.common import broadcast_shapes, common_dtype, merge_storage, tensor_operand
from tilefoundry.ir.hir.elementwise.placement import elementwise_layout
from tilefoundry.ir.hir.kinds import BinaryKind
from tilefoundry.ir.shard import Broadcast, Partial, ShardAttr
from tilefoundry.ir.types import DType, IntegerDType, TensorType


@register_op(category="elementwise")
@dataclass(frozen=True, slots=True)
class Binary(Op):
    """``kind(lhs, rhs)``. Operands have one dtype; comparisons and logic give bool.

    Shapes: lhs (*A), rhs (*B) -> broadcast(A, B)

    mod has the sign of `rhs`, floor_div rounds down; both need integers, div and pow floats, logic bool. NaN passes
    through min and max, as in torch.

    Partial: ``add`` of two sums along one mesh axis, or of one maximum (minimum) and a replicated value; ``mul`` of a
    sum and a replicated value.
    """

    lhs: ClassVar[ParamDef] = ParamDef()
    rhs: ClassVar[ParamDef] = ParamDef()
    kind: BinaryKind

    def __post_init__(self) -> None:
        if not isinstance(self.kind, BinaryKind):
            raise WrongTypeError(
                f"Binary: kind must be a BinaryKind, got {self.kind!r}", remedy="write BinaryKind.ADD and the like"
            )

    def type_rule(self, ctx: TypeContext, lhs: Expr | int, rhs: Expr | int) -> TensorType:  # type: ignore[override]
        """Broadcast shape; the operands' dtype, or bool; merged storage and placement."""
        types = [tensor_operand(ctx, "lhs", lhs), tensor_operand(ctx, "rhs", rhs)]
        dtype = common_dtype(ctx, (("lhs", lhs), ("rhs", rhs)))
        what = self.kind.value
        if self.kind.is_logical and dtype != DType.bool:
            ctx.error(f"{what} needs bool operands, got {dtype}", "compare first, as in x > 0.0")
        if self.kind in (BinaryKind.FLOOR_DIV, BinaryKind.MOD) and not isinstance(dtype, IntegerDType):
            ctx.error(f"{what} needs integer operands, got {dtype}", "cast to an integer type, or use '/'")
        if self.kind in (BinaryKind.DIV, BinaryKind.POW) and not dtype.is_float:
            instead = "use '//'" if self.kind is BinaryKind.DIV else "multiply"
            ctx.error(f"{what} needs float operands, got {dtype}", f"cast to a float type, or {instead}")
        if dtype == DType.bool and not (self.kind.is_logical or self.kind in (BinaryKind.EQ, BinaryKind.NE)):
            ctx.error(f"{what} does not accept bool operands", "cast them to a number type")
        shape = broadcast_shapes(ctx, types)
        storage = merge_storage(ctx, types)
        layout = elementwise_layout(ctx, ("lhs", "rhs"), types, shape, storage, partial(_partial, self.kind))
        result = DType.bool if self.kind.is_comparison or self.kind.is_logical else dtype
        return TensorType(shape, result, layout, storage)


def _partial(kind: BinaryKind, states: Sequence[ShardAttr]) -> Partial | None:
    lhs, rhs = states
    if kind is BinaryKind.ADD and lhs == rhs == Partial("sum"):
        return Partial("sum")
    held, other = (lhs, rhs) if isinstance(lhs, Partial) else (rhs, lhs)
    if isinstance(held, Partial) and isinstance(other, Broadcast):
        if kind is BinaryKind.ADD and held.reduction in ("max", "min"):
            return held
        if kind is BinaryKind.MUL and held.reduction == "sum":
            return held
    return None


_SURFACE = {
    "add": BinaryKind.ADD, "sub": BinaryKind.SUB, "mul": BinaryKind.MUL, "div": BinaryKind.DIV,
    "floor_div": BinaryKind.FLOOR_DIV, "mod": BinaryKind.MOD, "min": BinaryKind.MIN, "max": BinaryKind.MAX,
    "minimum": BinaryKind.MIN, "maximum": BinaryKind.MAX, "cmp_eq": BinaryKind.EQ, "cmp_ne": BinaryKind.NE,
    "cmp_lt": BinaryKind.LT, "cmp_le": BinaryKind.LE, "cmp_gt": BinaryKind.GT, "cmp_ge": BinaryKind.GE,
    "logical_and": BinaryKind.AND, "logical_or": BinaryKind.OR, "pow": BinaryKind.POW,
}  # fmt: skip

for _name, _kind in _SURFACE.items():
    register_alias("tf", "elementwise", _name, inputs_of(Binary))(partial(Binary, _kind))
