"""Slice: a window of a tensor (written ``x[...]``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_add, dim_mul
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import ints
from tilefoundry.ir.hir.common import tensor_operand
from tilefoundry.ir.hir.derive import known_placement
from tilefoundry.ir.hir.fresh import fresh_strides
from tilefoundry.ir.hir.shape.window import check_window, window_boundary, window_sizes, window_starts
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Layout,
    ShardLayout,
    Split,
    format_int_tuple,
    group_modes,
    row_major,
)
from tilefoundry.ir.types import INDEX_TYPE, AnyLayout, StorageKind, TensorType


@register_op(category="shape")
@dataclass(frozen=True, slots=True)
class Slice(Op):
    """The window of `x` from `starts` with these `sizes`, every ``strides[k]``-th element.

    Shapes: x (*A), starts [()] -> tuple(n for k, n in enumerate(sizes) if k not in drop)

    Placement: whole axes carry their splits; an axis that is split cannot be narrowed. Partial: carried.

    Attributes:
        sizes: one for each axis of `x`.
        strides: likewise, at least 1; ``()`` means all 1.
        drop: axes (of size 1) that the result lacks.
        boundary: for each axis "error", or "zero": elements outside the tensor read as zero. ``()`` means "error".
    """

    x: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef()
    sizes: tuple[Dim, ...]
    strides: tuple[int, ...] = ()
    drop: tuple[int, ...] = ()
    boundary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = window_sizes("slice", self.sizes)
        strides = ints("slice", "strides", self.strides) if self.strides != () else (1,) * len(sizes)
        if len(strides) != len(sizes) or not all(type(s) is int and s >= 1 for s in strides):
            raise WrongValueError(
                f"slice: strides must be ints of at least 1, one for each size, got {self.strides!r}",
                remedy="write one step for each axis, 1 or more",
            )
        drop = tuple(sorted(ints("slice", "drop", self.drop))) if self.drop != () else ()
        if not all(type(a) is int and 0 <= a < len(sizes) for a in drop) or len(set(drop)) != len(drop):
            raise WrongTypeError(
                f"slice: drop must name distinct axes, got {self.drop!r}", remedy="name each axis of size 1 once"
            )
        for axis in drop:
            if sizes[axis] != 1:
                raise WrongValueError(
                    f"slice: axis {axis} of size {sizes[axis]} cannot be dropped, expected size 1",
                    remedy="keep the axis, or take a window of size 1",
                )
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "strides", strides)
        object.__setattr__(self, "drop", drop)
        object.__setattr__(self, "boundary", window_boundary("slice", self.boundary, len(sizes), "zero"))

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes of `x` that the result has."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.drop)

    def type_rule(self, ctx: TypeContext, x: Expr | int, starts: Expr | int) -> TensorType:  # type: ignore[override]
        """The sizes without dropped axes; a plain layout becomes a view with an offset."""
        t = tensor_operand(ctx, "x", x)
        if len(self.sizes) != t.rank:
            ctx.error(
                f"{len(self.sizes)} sizes for {t.rank} axes, expected one for each", "give one size for each axis"
            )
        begin = window_starts(ctx, "starts", starts, t.rank)
        check_window(ctx, t, begin, self.sizes, self.strides, self.boundary)
        shape = tuple(self.sizes[axis] for axis in self.kept)
        return TensorType(shape, t.dtype, self._layout(ctx, t, begin), t.storage)

    def _layout(self, ctx: TypeContext, t: TensorType, starts: Sequence[Expr | int]) -> AnyLayout | None:
        layout = t.layout
        if layout is None or isinstance(layout, ShardLayout):
            return self._sharded(ctx, t, layout, starts) if layout is not None else None
        if t.storage is not StorageKind.RMEM and self._exceeds(t):
            return row_major(tuple(self.sizes[axis] for axis in self.kept))
        base: Dim = 0
        if isinstance(layout, ComposedLayout):
            if layout.inner is not None or layout.outer is None:
                ctx.error(f"cannot take a window of the layout {layout}", "tf.reshard it to a plain layout first")
            base, layout = layout.offset, layout.outer
        if layout.strides is None or any(isinstance(s, tuple) for s in layout.strides):
            ctx.error(f"cannot take a window of the layout {layout}", "tf.reshard it to a flat layout first")
        steps: tuple[Dim, ...] = layout.strides
        plain = Layout(
            tuple(self.sizes[axis] for axis in self.kept),
            tuple(dim_mul(steps[axis], self.strides[axis]) for axis in self.kept),
        )
        if any(isinstance(start, Expr) and start.type != INDEX_TYPE for start in starts):
            return plain  # at a scalar that is read when the program runs: from the window's first element on
        offset = base
        for start, step in zip(starts, steps, strict=True):
            offset = dim_add(offset, dim_mul(start, step))
        return plain if offset == 0 else ComposedLayout(None, offset, plain)

    def _exceeds(self, t: TensorType) -> bool:
        """Whether a window is longer than an axis, so that no view has the zeros beyond it."""
        return any(
            isinstance(size, int) and isinstance(extent, int) and (size - 1) * step + 1 > extent
            for size, step, extent in zip(self.sizes, self.strides, t.shape, strict=True)
        )

    def _sharded(self, ctx: TypeContext, t: TensorType, sl: ShardLayout, starts: Sequence[Expr | int]) -> ShardLayout:
        """Whole axes are carried with their splits; other axes must not be split, and become one mode."""
        groups = group_modes(sl.shape, t.shape)
        if groups is None:
            ctx.error(
                f"modes {format_int_tuple(sl.layout.shape)} straddle the axes {format_int_tuple(t.shape)}",
                "tf.reshard it, each axis factored on its own",
            )
        modes: list[Dim] = []
        moved: dict[int, int] = {}
        for axis, group in enumerate(groups):
            whole = starts[axis] == 0 and self.strides[axis] == 1 and dim_equal(self.sizes[axis], t.shape[axis])
            if not whole:
                known_placement("x", t)
            if not whole and any(sl.splitters(k) for k in group):
                ctx.error(f"axis {axis} is split over the mesh and cannot be narrowed", "tf.reshard it first")
            if whole and axis not in self.drop:
                moved.update({k: len(modes) + i for i, k in enumerate(group)})
                modes.extend(sl.shape[k] for k in group)
            elif axis not in self.drop:
                modes.append(self.sizes[axis])
        # a split mode that is dropped has extent 1, so its mesh axis has one unit: splitting nothing
        attrs = tuple(_remap(a, moved) if isinstance(a, Split) else a for a in sl.attrs)
        return fresh_strides(ShardLayout(Layout(tuple(modes)), attrs, sl.mesh), t.storage)


def _remap(attr: Split, moved: dict[int, int]) -> Split | Broadcast:
    return Split(moved[attr.axis]) if attr.axis in moved else Broadcast()
