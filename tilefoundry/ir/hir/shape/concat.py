"""Concat: tensors joined along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_add
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import common_dtype, merge_storage, normalize_axis, tensor_operand
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import uniform, whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Concat(Op):
    """`xs` one after the other along `axis`, as ``torch.cat``: the extents there add up, all others are equal.

    Shapes: xs[0] (*A, M, *B), xs[1] (*A, N, *B) -> (*A, M + N, *B)

    Placement: all alike, none split along `axis`. Partial: all alike, or none.
    """

    xs: ClassVar[ParamDef] = ParamDef(variadic=True)
    axis: int = 0

    def __post_init__(self) -> None:
        plain_int("concat", "axis", self.axis)

    def type_rule(self, ctx: TypeContext, *xs: Expr | int) -> TensorType:
        """The shape of the operands with the sum of their extents along `axis`."""
        names, types = joined_operands(ctx, xs)
        first = types[0]
        if not first.rank:
            ctx.error("scalars have no axis to be joined along", "tf.stack makes a vector of them")
        axis = normalize_axis(self.axis, first.rank)
        dtype = common_dtype(ctx, tuple(zip(names, xs, strict=True)))
        total: Dim = 0
        for name, t in zip(names, types, strict=True):
            if t.rank != first.rank:
                ctx.error(f"operands have equal rank, got {first} and {t}", "tf.unsqueeze the one of lower rank")
            for k in range(t.rank):
                if k != axis:
                    extents = f"the extents of '{names[0]}' and '{name}' along axis {k}"
                    equal_extents(ctx, extents, first.shape[k], t.shape[k], f"join along axis {k} instead")
            whole_axis(ctx, name, t, axis, "joined")
            total = dim_add(total, t.shape[axis])
        labels = tuple(None if k == axis else k for k in range(first.rank))
        shape = tuple(total if k == axis else e for k, e in enumerate(first.shape))
        storage = merge_storage(ctx, types)
        operands = [Placed(name, t, labels) for name, t in zip(names, types, strict=True)]
        layout = propagate(ctx, operands, labels, shape, storage, partial_rule=uniform, alike=True)
        return TensorType(shape, dtype, layout, storage)


def joined_operands(ctx: TypeContext, xs: Sequence[Expr | int]) -> tuple[list[str], list[TensorType]]:
    """Names and types of variadic operands, of which there must be at least one."""
    if not xs:
        ctx.error("expected at least one tensor, got none", "give the tensors, one by one")
    for x in xs:
        if isinstance(x, Expr) and not isinstance(x.type, TensorType):
            ctx.error(f"operands must be tensors, got {x.type}", "write the tensors one by one, without brackets")
    names = [f"xs[{k}]" for k in range(len(xs))]
    return names, [tensor_operand(ctx, name, x) for name, x in zip(names, xs, strict=True)]
