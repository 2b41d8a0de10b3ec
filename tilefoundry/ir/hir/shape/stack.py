"""Stack: tensors joined along a new axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import common_dtype, merge_storage, normalize_axis
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import uniform
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.hir.shape.concat import joined_operands
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Stack(Op):
    """`xs`, all of one shape, along a new axis of the result, as ``torch.stack``.

    Shapes: xs[0] (*A, *B), xs[1] (*A, *B) -> (*A, 2, *B)

    Placement: all alike; the new axis is whole. Partial: all alike, or none.
    """

    xs: ClassVar[ParamDef] = ParamDef(variadic=True)
    axis: int = 0

    def __post_init__(self) -> None:
        plain_int("stack", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, *xs: Expr | int) -> TensorType:
        """The shape of the operands with an axis of extent ``len(xs)`` more."""
        names, types = joined_operands(ctx, xs)
        first = types[0]
        axis = normalize_axis(self.axis, first.rank + 1)
        dtype = common_dtype(ctx, tuple(zip(names, xs, strict=True)))
        for name, t in zip(names, types, strict=True):
            if t.rank != first.rank:
                ctx.error(f"operands have equal rank, got {first} and {t}", "tf.unsqueeze the one of lower rank")
            for k in range(t.rank):
                equal_extents(
                    ctx, f"the extents of '{names[0]}' and '{name}' along axis {k}", first.shape[k], t.shape[k]
                )
        own = tuple(range(first.rank))
        shape = (*first.shape[:axis], len(xs), *first.shape[axis:])
        storage = merge_storage(ctx, types)
        operands = [Placed(name, t, own) for name, t in zip(names, types, strict=True)]
        labels = (*own[:axis], None, *own[axis:])
        layout = propagate(ctx, operands, labels, shape, storage, partial_rule=uniform, alike=True)
        return TensorType(shape, dtype, layout, storage)
