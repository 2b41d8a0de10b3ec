"""Split: a tensor in equal parts along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod, dim_mul
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import normalize_axis, tensor_operand
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.shape.slice import Slice
from tilefoundry.ir.types import TensorType


@register_op(category="shape", name="split")
@dataclass(frozen=True, slots=True)
class SplitParts(Op):
    """`x` in `num_splits` parts of equal extent along `axis`, in order. Each part is a window of `x` (`Slice`).

    Shapes: x (*A, N, *B) -> ((*A, N // num_splits, *B),) * num_splits

    Placement: `axis` is whole, other axes carry their splits. Partial: carried.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int
    num_splits: int

    def __post_init__(self) -> None:
        plain_int("split", "axis", self.axis)
        if plain_int("split", "num_splits", self.num_splits) < 1:
            raise WrongValueError(
                f"split: num_splits must be at least 1, got {self.num_splits}", remedy="write 1 or more"
            )

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TupleType:  # type: ignore[override]
        """The types of the parts."""
        t = tensor_operand(ctx, "x", x)
        axis = normalize_axis(self.axis, t.rank)
        if (left := dim_mod(t.shape[axis], self.num_splits)) != 0:
            extent = format_dim(t.shape[axis])
            static = isinstance(left, int)
            ctx.error(
                f"axis {axis} of extent {extent} does not divide into {self.num_splits} equal parts"
                if static
                else f"cannot prove that axis {axis} of extent {extent} divides into {self.num_splits} equal parts",
                "take slices x[a:b] of the lengths that you need",
            )
        if self.num_splits > 1:
            whole_axis(ctx, "x", t, axis, "taken in parts")
        return TupleType(tuple(op.type_rule(ctx, x, starts) for op, starts in self.windows(t)))

    def windows(self, t: TensorType) -> tuple[tuple[Slice, Tuple], ...]:
        """For each part of a tensor of type `t`, the slice that takes it and where it starts."""
        axis = normalize_axis(self.axis, t.rank)
        part = dim_floordiv(t.shape[axis], self.num_splits)
        op = Slice(tuple(part if k == axis else extent for k, extent in enumerate(t.shape)))
        return tuple(
            (op, Tuple(tuple(dim_mul(part, i) if k == axis else 0 for k in range(t.rank))))
            for i in range(self.num_splits)
        )
