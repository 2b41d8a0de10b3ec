"""InsertSlice: a tensor with one window replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.derive import known_placement
from tilefoundry.ir.hir.shape.window import check_window, window_boundary, window_sizes, window_starts
from tilefoundry.ir.shard import Mesh, Partial, ShardLayout, format_int_tuple, group_modes
from tilefoundry.ir.types import TensorType


@register_op(category="shape", name="insert_slice")
@dataclass(frozen=True, slots=True)
class InsertSlice(Op):
    """`dst` with `update` in the window that starts at `offsets`.

    Shapes: dst (*A), update (*U), offsets [()] -> A

    `update` may lie in any storage and placement. Of a placed `dst`, the window takes axes that are split as they are.
    Partial: `dst` and `update` alike, or neither.

    Attributes:
        sizes: of the window, one for each axis of `dst`; 1 for axes that `update` lacks.
        boundary: for each axis "error", or "clip": elements outside `dst` are not written. ``()`` means "error".
    """

    dst: ClassVar[ParamDef] = ParamDef()
    update: ClassVar[ParamDef] = ParamDef()
    offsets: ClassVar[ParamDef] = ParamDef()
    sizes: tuple[Dim, ...]
    boundary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", window_sizes("insert_slice", self.sizes))
        object.__setattr__(self, "boundary", window_boundary("insert_slice", self.boundary, len(self.sizes), "clip"))

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, dst: Expr | int, update: Expr | int, offsets: Expr | int
    ) -> TensorType:
        """The type of `dst`; `update` may lie in any storage and placement."""
        t, u = tensor_operand(ctx, "dst", dst), tensor_operand(ctx, "update", update)
        if len(self.sizes) != t.rank:
            ctx.error(
                f"{len(self.sizes)} sizes for the {t.rank} axes of dst, expected one for each",
                "give one size for each axis; 1 for axes that the update lacks",
            )
        begin = window_starts(ctx, "offsets", offsets, t.rank)
        check_window(ctx, t, begin, self.sizes, (1,) * t.rank, self.boundary)
        if u.dtype != t.dtype:
            ctx.error(
                f"update has dtype {u.dtype}, dst {t.dtype}; dtypes never promote", f'tf.cast(update, "{t.dtype}")'
            )
        axes = update_axes(self.sizes, u.shape)
        if axes is None:
            ctx.error(
                f"update of shape {format_int_tuple(u.shape)} does not fill a window of sizes "
                f"{format_int_tuple(self.sizes)}",
                "let it have the window's sizes; axes of size 1 may be left out",
            )
        _check_states(ctx, t, u)
        if isinstance(t.layout, ShardLayout):
            _check_splits(ctx, t, t.layout, begin, self.sizes)
        return t


def _check_states(ctx: TypeContext, t: TensorType, u: TensorType) -> None:
    """Refuses an update that is in another state than `dst`: a unit would write its term over a complete value."""
    states = {"dst": _partial_states(t), "update": _partial_states(u)}
    if states["dst"] != states["update"]:
        what = "update" if states["update"] else "dst"
        ctx.error(
            f"{what} is Partial and cannot be written in that state: dst and update must be Partial alike, or neither",
            "complete it first by an explicit tf.reshard",
        )


def _check_splits(
    ctx: TypeContext, t: TensorType, layout: ShardLayout, begin: Sequence[Expr | int], sizes: Sequence[Dim]
) -> None:
    """Refuses a window that takes a part of an axis that is split: each unit would have another part of it to write."""
    groups = group_modes(layout.shape, t.shape)
    for axis, (start, size) in enumerate(zip(begin, sizes, strict=True)):
        if start == 0 and dim_equal(size, t.shape[axis]):
            continue
        known_placement("dst", t)
        if groups is None or any(layout.splitters(mode) for mode in groups[axis]):
            ctx.error(
                f"dst is split over the mesh along axis {axis}, and the window takes {format_dim(size)} of it",
                "tf.reshard dst so that each unit holds the axis whole, or write windows into an unsharded tensor",
            )


def _partial_states(t: TensorType) -> tuple[Mesh, tuple[tuple[int, Partial], ...]] | None:
    """Which mesh axes hold terms, and how these are completed; None when the value is complete."""
    if not isinstance(t.layout, ShardLayout):
        return None
    held = tuple((axis, a) for axis, a in enumerate(t.layout.attrs) if isinstance(a, Partial))
    return (t.layout.mesh, held) if held else None


def update_axes(sizes: Sequence[Dim], update_shape: Sequence[Dim]) -> tuple[int, ...] | None:
    """The axes of the window that an update has, or None when it does not fill the window.

    The update has all axes, or lacks some of size 1; of several that it could lack, the leading ones are meant.
    """
    missing = len(sizes) - len(update_shape)
    axes: list[int] = []
    for axis, size in enumerate(sizes):
        at = len(axes)
        if missing > 0 and size == 1:
            missing -= 1
        elif at < len(update_shape) and dim_equal(size, update_shape[at]):
            axes.append(axis)
        else:
            return None
    return tuple(axes) if missing == 0 and len(axes) == len(update_shape) else None
