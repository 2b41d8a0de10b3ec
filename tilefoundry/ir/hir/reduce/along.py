"""Types of the ops that compare or add up the elements along one axis, and so need the whole of it."""

from __future__ import annotations

from collections.abc import Sequence

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.common import normalize_axis, tensor_operand
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import BoolDType, DType, TensorType


def ordered_operand(ctx: TypeContext, x: Expr | int, axis: int, done: str) -> tuple[TensorType, int]:
    """The type of a tensor of numbers and the non-negative axis, which no mesh axis may split.

    Args:
        done: what the op does along the axis, as in "sorted".
    """
    t = tensor_operand(ctx, "x", x)
    axis = normalize_axis(axis, t.rank)
    if isinstance(t.dtype, BoolDType):
        ctx.error("does not accept a bool operand", "cast it to a number type")
    whole_axis(ctx, "x", t, axis, done)
    return t, axis


def without_axis(ctx: TypeContext, t: TensorType, axis: int, dtype: DType) -> TensorType:
    """`t` without the axis. No Partial passes."""
    return _kept(ctx, t, [k for k in range(t.rank) if k != axis], t.shape[:axis] + t.shape[axis + 1 :], dtype)


def with_extent(ctx: TypeContext, t: TensorType, axis: int, extent: Dim, dtype: DType) -> TensorType:
    """`t` with another extent of the axis. No Partial passes."""
    labels = [None if k == axis else k for k in range(t.rank)]
    return _kept(ctx, t, labels, (*t.shape[:axis], extent, *t.shape[axis + 1 :]), dtype)


def _kept(
    ctx: TypeContext, t: TensorType, labels: Sequence[int | None], shape: tuple[Dim, ...], dtype: DType
) -> TensorType:
    operand = Placed("x", t, tuple(range(t.rank)))
    return TensorType(shape, dtype, propagate(ctx, (operand,), labels, shape, t.storage), t.storage)
