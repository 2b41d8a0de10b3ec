"""Squeeze: axes of extent 1 removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir.attributes import ints
from tilefoundry.ir.hir.common import normalize_axes, tensor_operand
from tilefoundry.ir.hir.shape.reshape import Reshape
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Squeeze(Op):
    """`x` without `axis` (an int or a tuple of them), each of extent 1. A view, as the `Reshape` that it is.

    Shapes: x (*A, 1, *B) -> (*A, *B)

    Unlike ``torch.squeeze`` it refuses an axis of another extent: a shape that depends on extents hides mistakes.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axis: int | tuple[int, ...]

    def __post_init__(self) -> None:
        axis = ints("squeeze", "axis", self.axis)
        object.__setattr__(self, "axis", self.axis if isinstance(self.axis, int) else axis)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape without these axes; placement and Partial carried."""
        return self.reshape(tensor_operand(ctx, "x", x)).type_rule(ctx, x)

    def reshape(self, t: TensorType) -> Reshape:
        """The reshape that this is for an operand of type `t`. Raises WrongValueError for an axis of another extent."""
        axes = normalize_axes(ints("squeeze", "axis", self.axis), t.rank)
        for axis in axes:
            if t.shape[axis] != 1:
                raise WrongValueError(
                    f"axis {axis} of {t} has extent {format_dim(t.shape[axis])}, expected 1",
                    remedy="name axes of extent 1 only",
                )
        return Reshape(tuple(extent for axis, extent in enumerate(t.shape) if axis not in axes))
