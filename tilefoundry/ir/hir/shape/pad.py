"""Pad: elements of one value around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_add
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import check_value, extents
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.movement import whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import Partial, ShardAttr
from tilefoundry.ir.types import DType, TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Pad(Op):
    """`x` with elements of `value` around it, as ``torch.nn.functional.pad`` in its constant mode.

    Shapes: x (*A) -> tuple(n + sum(pad[2 * k : 2 * k + 2]) for k, n in zip(reversed(range(len(A))), A))

    Attributes:
        pad: how many before and after, for the last axis, then for the one before it, and so on.
        value: what the new elements are; a plain 0 stands for the zero of any dtype.

    Placement: padded axes are whole, others carry their splits. Partial: a sum passes where `value` is 0.
    """

    x: ClassVar[ParamDef] = ParamDef()
    pad: tuple[Dim, ...]
    value: bool | int | float = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pad", extents("pad", "pad", self.pad))
        if len(self.pad) % 2 or any(isinstance(n, int) and n < 0 for n in self.pad):
            raise WrongValueError(
                f"pad: pad must hold a number before and one after for each axis, none negative, got {self.pad!r}",
                remedy="take a slice to remove elements",
            )
        if not isinstance(self.value, (bool, int, float)):
            raise WrongTypeError(
                f"pad: value must be a number, got {self.value!r}", remedy="write a number, as in value=0.0"
            )

    def __eq__(self, other: object) -> bool:
        # repr tells 0.0 from -0.0 and 1 from 1.0 from True, and nan from nothing
        return (
            (self.pad, repr(self.value)) == (other.pad, repr(other.value)) if isinstance(other, Pad) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(("pad", self.pad, repr(self.value)))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """The extents of `x` and what is added to them."""
        t = tensor_operand(ctx, "x", x)
        axes = len(self.pad) // 2
        if axes > t.rank:
            ctx.error(
                f"pad {self.pad} is for {axes} axes, and {t} has {t.rank}",
                "give two numbers for each padded axis, from the last axis on",
            )
        if not (type(self.value) is int and self.value == 0 and t.dtype is not DType.f8e8m0):
            check_value(ctx, self.value, t.dtype)
        shape, labels = list(t.shape), [*range(t.rank)]  # type: list[Dim], list[int | None]
        for k in range(axes):
            axis, before, after = t.rank - 1 - k, self.pad[2 * k], self.pad[2 * k + 1]
            if before == after == 0:
                continue
            whole_axis(ctx, "x", t, axis, "padded")
            shape[axis], labels[axis] = dim_add(t.shape[axis], dim_add(before, after)), None
        rule = partial(_partial, self.value)
        layout = propagate(ctx, (Placed("x", t, tuple(labels)),), labels, shape, t.storage, partial_rule=rule)
        return TensorType(tuple(shape), t.dtype, layout, t.storage)


def _partial(value: bool | int | float, states: Sequence[ShardAttr]) -> Partial | None:
    (state,) = states
    return state if isinstance(state, Partial) and state.reduction == "sum" and value == 0 else None
