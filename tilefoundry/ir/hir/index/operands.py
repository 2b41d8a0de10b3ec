"""What the ops with an index tensor share."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.hir.common import common_dtype, merge_storage, normalize_axis, tensor_operand
from tilefoundry.ir.hir.elementwise.identity import identity_type
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import is_split, whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import BoolDType, DType, TensorType


def index_operand(ctx: TypeContext, operand: Expr | int, rank: int) -> TensorType:
    """The type of an index tensor, of i32 or i64 and this rank."""
    t = tensor_operand(ctx, "index", operand)
    if t.dtype not in (DType.i32, DType.i64):
        ctx.error(f"'index' must be of i32 or i64, got {t.dtype}", 'cast it, tf.cast(index, "i64")')
    if t.rank != rank:
        ctx.error(f"'index' must have rank {rank}, got {t}", "tf.reshape it")
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


def row_update(ctx: TypeContext, dst: Expr | int, index: Expr | int, src: Expr | int, dim: int) -> TensorType:
    """The type of `dst` with the rows `index` along `dim` updated from those of `src`; refuses what does not fit."""
    t, s = tensor_operand(ctx, "dst", dst), tensor_operand(ctx, "src", src)
    axis = normalize_axis(dim, t.rank)
    i = index_operand(ctx, index, 1)
    common_dtype(ctx, (("dst", dst), ("src", src)))
    if s.rank != t.rank:
        ctx.error(f"'src' must have rank {t.rank}, got {s}", "tf.reshape it")
    for k, (own, extent) in enumerate(zip(t.shape, s.shape, strict=True)):
        other, what = (i.shape[0], "'index'") if k == axis else (own, f"'dst' along axis {k}")
        equal_extents(ctx, f"the extents of 'src' along axis {k} and of {what}", extent, other)
    for name, operand, k in (("dst", t, axis), ("index", i, 0), ("src", s, axis)):
        whole_axis(ctx, name, operand, k, "written in parts")
    labels = tuple(None if k == axis else k for k in range(t.rank))
    operands = (Placed("dst", t, labels), Placed("index", i, (None,)), Placed("src", s, labels))
    propagate(ctx, operands, labels, t.shape, merge_storage(ctx, (t, i, s)), alike=True)
    return identity_type(ctx, t, ())
