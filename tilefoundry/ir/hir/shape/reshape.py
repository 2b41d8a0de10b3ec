"""Reshape: the same elements in row-major order under another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod, dim_mul, dim_product
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal, normalize_dim
from tilefoundry.ir.dims.ops import Dim, is_dim_operand
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.hir.shape.refactor import refactored
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    ShardLayout,
    Split,
    c_order_strides,
    flat_modes,
    format_int_tuple,
    group_modes,
)
from tilefoundry.ir.types import AnyLayout, TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Reshape(Op):
    """`x` under `new_shape`, which has as many elements; one extent may be -1, for what is left. A view: nothing moves.

    Shapes: x (*A) -> new_shape

    Placement: a shard layout is carried where each split mode stays whole under the new shape, or a mode that is longer
    than its mesh axes divides evenly behind them; what is not split may be factored in any way. A plain layout is
    carried where the new axes can be stepped through with constant strides. Partial: carried.
    """

    x: ClassVar[ParamDef] = ParamDef()
    new_shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.new_shape, (tuple, list)) or not all(is_dim_operand(d) for d in self.new_shape):
            raise WrongTypeError(
                f"reshape: new_shape must be a tuple of ints and dims, got {self.new_shape!r}",
                remedy="write (a, b), with extents that are ints or DimVars",
            )
        object.__setattr__(self, "new_shape", tuple(normalize_dim(d) for d in self.new_shape))

    def type_rule(self, ctx: TypeContext, x: Expr | int) -> TensorType:  # type: ignore[override]
        """`new_shape`, with the placement carried."""
        t = tensor_operand(ctx, "x", x)
        shape = self._complete(ctx, t)
        if any(isinstance(d, int) and d < 0 for d in shape):
            ctx.error(
                f"extents must not be negative, got {format_int_tuple(self.new_shape)}", "-1 may stand for one extent"
            )
        have, want = dim_product(t.shape), dim_product(shape)
        if not dim_equal(have, want):
            proven = isinstance(have, int) and isinstance(want, int)
            verb = "does not have" if proven else "cannot be proven to have"
            ctx.error(
                f"{format_int_tuple(self.new_shape)} {verb} as many elements as {format_int_tuple(t.shape)}",
                "write extents whose product is the same, or -1 for one of them",
            )
        return TensorType(shape, t.dtype, _viewed(ctx, t, shape), t.storage)

    def _complete(self, ctx: TypeContext, t: TensorType) -> tuple[Dim, ...]:
        """The new shape with the extent that -1 stands for."""
        if self.new_shape.count(-1) != 1:
            return self.new_shape
        have, rest = dim_product(t.shape), dim_product(d for d in self.new_shape if d != -1)
        if rest == 0 or dim_mod(have, rest) != 0:
            ctx.error(
                f"-1 in {format_int_tuple(self.new_shape)} stands for no one extent: {format_dim(have)} elements "
                f"over {format_dim(rest)}",
                "write every extent",
            )
        return tuple(dim_floordiv(have, rest) if d == -1 else d for d in self.new_shape)


def _viewed(ctx: TypeContext, t: TensorType, shape: Sequence[Dim]) -> AnyLayout | None:
    layout = t.layout
    if layout is None or tuple(shape) == t.shape:
        return layout
    if isinstance(layout, ShardLayout):
        carried = _regrouped(layout, shape) or refactored(layout, shape)
        if carried is None:
            ctx.error(
                f"modes {format_int_tuple(layout.layout.shape)} of the operand do not stay whole under "
                f"{format_int_tuple(tuple(shape))}",
                "tf.reshard it first, to a placement whose factors both shapes have",
            )
        return carried
    offset: Dim = 0
    if isinstance(layout, ComposedLayout):
        if layout.inner is not None or layout.outer is None:
            ctx.error(f"cannot reshape the layout {layout}", "tf.reshard it to a plain layout first")
        offset, layout = layout.offset, layout.outer
    if layout == fresh_plain(t.shape, t.storage) and offset == 0:
        return fresh_plain(shape, t.storage)
    strides = view_strides(layout, shape)
    if strides is None:
        ctx.error(
            f"a layout {layout} has no view of shape {format_int_tuple(tuple(shape))}",
            "tf.reshard it to a row-major layout first",
        )
    plain = Layout(tuple(shape), strides)
    return plain if offset == 0 else ComposedLayout(None, offset, plain)


def view_strides(layout: Layout, shape: Sequence[Dim]) -> tuple[Dim, ...] | None:
    """Strides that step through a layout's elements, row-major, under another shape; None when there are none."""
    runs: list[tuple[Dim, Dim]] = []  # (extent, stride), neighbours merged where one stride steps through both
    for extent, stride in flat_modes(layout):
        if extent == 1:
            continue
        if runs and dim_equal(runs[-1][1], dim_mul(extent, stride)):
            runs[-1] = (dim_mul(runs[-1][0], extent), stride)
        else:
            runs.append((extent, stride))
    inner = [extent for extent in shape if extent != 1]
    groups = group_modes(inner, [extent for extent, _ in runs])
    if groups is None:
        return None
    strides: list[Dim] = []
    for group, (_, stride) in zip(groups, runs, strict=True):
        strides.extend(dim_mul(s, stride) for s in c_order_strides([inner[k] for k in group]))
    left = iter(strides)
    return tuple(0 if extent == 1 else next(left) for extent in shape)


def _regrouped(sl: ShardLayout, shape: Sequence[Dim]) -> ShardLayout | None:
    """The same modes under another shape: each axis of extent 1 gets a mode of its own, other modes of extent 1 go."""
    strides = sl.layout.strides
    kept = [k for k in range(sl.rank) if sl.shape[k] != 1 or sl.splitters(k)]
    groups = group_modes([sl.shape[k] for k in kept], [extent for extent in shape if extent != 1])
    if groups is None:
        return None
    order: list[int | None] = []
    taken = iter(groups)
    for extent in shape:
        order.extend([None] if extent == 1 else [kept[k] for k in next(taken)])
    if sorted(k for k in order if k is not None) != kept:
        return None
    modes = tuple(1 if k is None else sl.shape[k] for k in order)
    moved = tuple(0 if k is None else strides[k] for k in order) if strides is not None else None
    attrs = tuple(Split(order.index(a.axis)) if isinstance(a, Split) else a for a in sl.attrs)
    return ShardLayout(Layout(modes, moved), attrs, sl.mesh)
