"""Gather: for each position one element, by number along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import merge_storage, normalize_axis, tensor_operand
from tilefoundry.ir.hir.extents import at_most
from tilefoundry.ir.hir.index.operands import index_operand, summed_number
from tilefoundry.ir.hir.movement import carried, whole_axis
from tilefoundry.ir.hir.propagate import Label, Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="index")
@dataclass(frozen=True, slots=True)
class Gather(Op):
    """``y[i][j][k] = x[i][index[i][j][k]][k]`` for ``dim=1``, as ``torch.gather``.

    Shapes: x (*A), index (*I) -> I

    `index` (i32 or i64) has the rank of `x`, and along axes other than `dim` at most its extents. Indices are checked
    when the program runs: 0 <= index < extent.

    Placement: the result lies as `index`; `x` alike along axes of equal extent, and whole along others. Where `x` is
    split along `dim`, the result is Partial("sum"). Partial: that of `x` is carried, with `index` replicated.
    """

    x: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    dim: int

    def __post_init__(self) -> None:
        plain_int("gather", "dim", self.dim)

    def type_rule(self, ctx: TypeContext, x: Expr | int, index: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape of `index`, the dtype of `x`."""
        t = tensor_operand(ctx, "x", x)
        dim = normalize_axis(self.dim, t.rank)
        i = index_operand(ctx, index, t.rank)
        summed_number(ctx, t, dim)
        x_labels: list[Label] = []
        i_labels = tuple(range(t.rank))
        for axis, (own, extent) in enumerate(zip(t.shape, i.shape, strict=True)):
            if axis == dim:
                x_labels.append(t.rank)
            elif dim_equal(own, extent):
                x_labels.append(axis)
            else:
                at_most(ctx, f"the extent of 'index' along axis {axis}", extent, own)
                whole_axis(ctx, "x", t, axis, "read in part")
                x_labels.append(None)
        storage = merge_storage(ctx, (t, i))
        operands = (Placed("x", t, tuple(x_labels)), Placed("index", i, i_labels))
        layout = propagate(ctx, operands, i_labels, i.shape, storage, partial_rule=carried, reduced_is_partial=True)
        return TensorType(i.shape, t.dtype, layout, storage)
