"""Transpose: axes in another order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.hir.common import normalize_axis, tensor_operand
from tilefoundry.ir.shard import ComposedLayout, Layout, ShardLayout, Split, format_int_tuple, group_modes
from tilefoundry.ir.types import AnyLayout, TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Transpose(Op):
    """Result axis k is axis ``perm[k]`` of `x`. Shape and strides are permuted; nothing moves.

    Shapes: x (*A) -> tuple(A[k] for k in perm)

    Placement: splits go with their axes. Partial: carried.
    """

    x: ClassVar[ParamDef] = ParamDef()
    perm: tuple[int, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.perm, (tuple, list)):
            raise WrongTypeError(f"transpose: perm must be a tuple of ints, got {self.perm!r}", remedy="write (1, 0)")
        object.__setattr__(self, "perm", tuple(self.perm))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """Permuted shape, strides and splits."""
        t = tensor_operand(ctx, "x", x)
        perm = [normalize_axis(axis, t.rank) for axis in self.perm]
        if sorted(perm) != list(range(t.rank)):
            ctx.error(f"perm {self.perm} is no permutation of the {t.rank} axes of {t}", "name each axis once")
        shape = tuple(t.shape[axis] for axis in perm)
        return TensorType(shape, t.dtype, _permuted(ctx, t, perm), t.storage)


def _permuted(ctx: TypeContext, t: TensorType, perm: list[int]) -> AnyLayout | None:
    layout = t.layout
    if isinstance(layout, Layout):
        return _permute_plain(layout, perm)
    if isinstance(layout, ComposedLayout):
        if layout.outer is None:
            ctx.error(f"cannot permute the layout {layout}", "tf.reshard it to a plain layout first")
        return ComposedLayout(layout.inner, layout.offset, _permute_plain(layout.outer, perm))
    if isinstance(layout, ShardLayout):
        groups = group_modes(layout.shape, t.shape)
        if groups is None:
            ctx.error(
                f"modes {format_int_tuple(layout.layout.shape)} straddle the axes {format_int_tuple(t.shape)}",
                "tf.reshard it, each axis factored on its own",
            )
        order = [mode for axis in perm for mode in groups[axis]]
        moved = tuple(Split(order.index(a.axis)) if isinstance(a, Split) else a for a in layout.attrs)
        return ShardLayout(_permute_plain(layout.layout, order), moved, layout.mesh)
    return None


def _permute_plain(layout: Layout, perm: list[int]) -> Layout:
    strides = layout.strides
    return Layout(
        tuple(layout.shape[axis] for axis in perm),
        tuple(strides[axis] for axis in perm) if strides is not None else None,
    )
