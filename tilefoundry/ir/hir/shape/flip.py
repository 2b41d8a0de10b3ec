"""Flip: elements in reverse order along axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.attributes import ints
from tilefoundry.ir.hir.common import normalize_axes, tensor_operand
from tilefoundry.ir.hir.movement import carried, whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.types import TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Flip(Op):
    """`x` in reverse order along `axes` (an int or a tuple of them), as ``torch.flip``.

    Shapes: x (*A) -> A

    Placement: these axes are whole, others carry their splits. Partial: carried.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axes: int | tuple[int, ...]

    def __post_init__(self) -> None:
        axes = ints("flip", "axes", self.axes)
        object.__setattr__(self, "axes", self.axes if isinstance(self.axes, int) else axes)

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape of `x`."""
        t = tensor_operand(ctx, "x", x)
        axes = normalize_axes(ints("flip", "axes", self.axes), t.rank)
        for axis in axes:
            whole_axis(ctx, "x", t, axis, "reversed")
        labels = tuple(None if axis in axes else axis for axis in range(t.rank))
        layout = propagate(ctx, (Placed("x", t, labels),), labels, t.shape, t.storage, partial_rule=carried)
        return TensorType(t.shape, t.dtype, layout, t.storage)
