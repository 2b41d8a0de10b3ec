"""Reduce: elements along some axes become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import normalize_axes, tensor_operand
from tilefoundry.ir.hir.kinds import ReduceKind
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import Partial, ShardAttr
from tilefoundry.ir.types import BoolDType, TensorType


@register_op(category="reduce")
@dataclass(frozen=True, slots=True)
class Reduce(Op):
    """`x` reduced over `axes` (negative ones count from the end).

    Shapes: x (*A) -> tuple(1 if k in axes else n for k, n in enumerate(A) if keepdim or k not in axes)

    The reduction is complete: mesh axes that split a reduced axis hold equal copies of the result.
    any and all need bool, mean floats, the others numbers. Floats are accumulated in f32 (f64 for f64) and rounded
    once; integers wrap.
    An empty axis gives the identity: 0 for sum and abs_max, 1 for prod, False for any, True for all, the least value
    for max, the greatest for min; NaN for mean.
    Partial: sums pass through sum and mean, maxima through max, minima through min.
    """

    x: ClassVar[ParamDef] = ParamDef()
    axes: tuple[int, ...]
    keepdim: bool = True
    kind: ReduceKind = ReduceKind.MEAN

    def __post_init__(self) -> None:
        if not isinstance(self.axes, (tuple, list)) or not self.axes:
            raise WrongTypeError(
                f"reduce: axes must be a non-empty tuple of ints, got {self.axes!r}", remedy="write (-1,)"
            )
        object.__setattr__(self, "axes", tuple(self.axes))
        if not isinstance(self.keepdim, bool):
            raise WrongTypeError(f"reduce: keepdim must be a bool, got {self.keepdim!r}", remedy="write True or False")
        if not isinstance(self.kind, ReduceKind):
            raise WrongTypeError(f"reduce: kind must be a ReduceKind, got {self.kind!r}", remedy="write ReduceKind.SUM")

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The shape without the reduced axes, or with extent 1 there."""
        t = tensor_operand(ctx, "x", x)
        axes = normalize_axes(self.axes, t.rank)
        if self.kind.is_logical:
            if not isinstance(t.dtype, BoolDType):
                ctx.error(f"{self.kind.value} needs a bool operand, got {t.dtype}", "compare first, as in x > 0.0")
        elif isinstance(t.dtype, BoolDType):
            ctx.error(f"{self.kind.value} does not accept a bool operand", "cast it to a number type")
        if self.kind is ReduceKind.MEAN and not t.dtype.is_float:
            ctx.error(f"mean needs a float operand, got {t.dtype}", "cast it first")
        kept = [axis for axis in range(t.rank) if self.keepdim or axis not in axes]
        labels = tuple(None if axis in axes else axis for axis in kept)
        shape = tuple(1 if axis in axes else t.shape[axis] for axis in kept)
        operand = Placed("x", t, tuple(range(t.rank)))
        layout = propagate(ctx, (operand,), labels, shape, t.storage, partial_rule=partial(_partial, self.kind))
        return TensorType(shape, t.dtype, layout, t.storage)


def _partial(kind: ReduceKind, states: Sequence[ShardAttr]) -> Partial | None:
    (state,) = states
    wanted = {
        ReduceKind.SUM: "sum", ReduceKind.MEAN: "sum", ReduceKind.MAX: "max", ReduceKind.MIN: "min"
    }.get(kind)  # fmt: skip
    return state if isinstance(state, Partial) and state.reduction == wanted else None
