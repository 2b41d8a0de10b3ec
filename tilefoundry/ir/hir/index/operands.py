"""What the ops with an index tensor share."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.movement import is_split
from tilefoundry.ir.types import BoolDType, DType, TensorType


def index_operand(ctx: TypeContext, operand: Expr | int, rank: int) -> TensorType:
    """The type of an index tensor, of i32 or i64 and this rank."""
    t = tensor_operand(ctx, "index", operand)
    if t.dtype not in (DType.i32, DType.i64):
        ctx.error(f"'index' must be of i32 or i64, got {t.dtype}", 'cast it, tf.cast(index, "i64")')
    if t.rank != rank:
        ctx.error(f"'index' must have rank {rank}, got {t}")
    return t


def summed_number(ctx: TypeContext, t: TensorType, axis: int) -> None:
    """Refuses a read along a split axis of what has no sum: each unit gives what it holds, and zero elsewhere."""
    if isinstance(t.dtype, BoolDType) and is_split(t, axis):
        ctx.error(
            f"axis {axis} of 'x' is split over the mesh, so units would hold partial sums, which {t.dtype} has not",
            "tf.reshard it first, so that each unit holds the whole axis",
        )


def added_number(ctx: TypeContext, dtype: DType) -> None:
    """Refuses dtypes that are not added to each other."""
    if isinstance(dtype, BoolDType) or (dtype.is_float and dtype.bits < 16):
        ctx.error(f"elements of {dtype} are not added to each other", 'cast them first, as in tf.cast(src, "f32")')
