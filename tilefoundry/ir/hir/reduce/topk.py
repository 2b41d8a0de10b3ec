"""TopK: the greatest (or least) elements of an axis, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import bool_attribute
from tilefoundry.ir.hir.reduce.along import ordered_operand, with_extent
from tilefoundry.ir.types import DType, TupleType


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class TopK(Op):
    """(values, indices): the `k` greatest elements along `axis` and their places in it (i64), as ``torch.topk``.

    Shapes: x (*A, N, *B) -> (*A, k, *B), (*A, k, *B)

    Attributes:
        k: an int or a dim, at most the extent of the axis (checked when the program runs where it is symbolic).
        largest: False gives the least ones.
        sorted: greatest (least) first; False leaves the order open.

    Of equal elements the first are taken, and come first. NaN counts as the greatest.
    """

    x: ClassVar[ParamDef] = ParamDef()
    k: Dim
    axis: int = -1
    largest: bool = True
    sorted: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not is_dim_operand(self.k):
            raise WrongTypeError(f"topk: k must be an int or a dim, got {self.k!r}", remedy="write an int or a DimVar")
        object.__setattr__(self, "k", normalize_dim(self.k))
        if isinstance(self.k, int) and self.k < 0:
            raise WrongValueError(f"topk: k must not be negative, got {self.k}", remedy="write an int of 0 or more")
        plain_int("topk", "axis", self.axis)
        bool_attribute("topk", "largest", self.largest)
        bool_attribute("topk", "sorted", self.sorted)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TupleType:  # type: ignore[override]
        """`x` with extent `k` along the axis, which must not be split, and the same of i64. No Partial passes."""
        t, axis = ordered_operand(ctx, x, self.axis, "searched")
        slack = dim_sub(t.shape[axis], self.k)
        if isinstance(slack, int) and slack < 0:
            ctx.error(
                f"k = {format_dim(self.k)} exceeds axis {axis} of extent {format_dim(t.shape[axis])}",
                "take fewer elements",
            )
        return TupleType(tuple(with_extent(ctx, t, axis, self.k, dtype) for dtype in (t.dtype, DType.i64)))
