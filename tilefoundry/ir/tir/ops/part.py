"""Parts of tensors: views of global tensors that keep their strides, and single elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.tir.ops.base import EffectOp, ValueOp
from tilefoundry.ir.tir.ops.rules import index, scalar, tensor
from tilefoundry.ir.types import INDEX_TYPE, ShapeDim, StorageKind, TensorType


@register_op(dialect="T", category="memory", name="global_view")
@dataclass(frozen=True, slots=True)
class GlobalView(ValueOp):
    """``GlobalView(axes, sizes, steps)(tensor, *starts)``: elements of a global tensor as a tensor of their own.

    Along view axis k lie ``sizes[k]`` elements of tensor axis ``axes[k]``, ``steps[k]`` apart: -1 is backwards, 0 the
    same one again. Nothing beyond the view is read or written through it. Its strides are those of the tensor, whatever
    they are when the kernel is launched.

    Attributes:
        axes: one for each axis of the view; several are factors of one, and None a repeated axis that the tensor lacks.
        sizes: of the view.
        steps: likewise.
    """

    tensor: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef(variadic=True, pattern=ScalarPat())
    axes: tuple[int | None, ...]
    sizes: tuple[ShapeDim, ...]
    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.axes) == len(self.sizes) == len(self.steps):
            raise WrongValueError(
                f"global_view: expected a size and a step for each axis, got axes {self.axes}, sizes {self.sizes} and "
                f"steps {self.steps}",
                remedy="give as many sizes and steps as axes",
            )

    def type_rule(self, ctx: TypeContext, whole: Expr, *starts: Expr | int) -> TensorType:  # type: ignore[override]
        """A global tensor of these sizes."""
        type_ = tensor(ctx, "tensor", whole)
        if type_.storage is not StorageKind.GMEM or not type_.shape:
            ctx.error(
                f"'tensor' must be a global tensor with axes, got {type_}", remedy="give a parameter of the kernel"
            )
        if len(starts) != type_.rank or any(a is not None and not 0 <= a < type_.rank for a in self.axes):
            ctx.error(
                f"'starts' must have one entry for each axis of {type_}, and 'axes' name them",
                remedy="give one start for each axis",
            )
        for k, start in enumerate(starts):
            index(ctx, f"starts[{k}]", start)
        return TensorType(self.sizes, type_.dtype, None, StorageKind.GMEM)


@register_op(dialect="T", category="memory", name="element")
@dataclass(frozen=True, slots=True)
class Element(ValueOp):
    """``Element()(tensor, *coordinates)``: one element, which each instance reads for itself.

    Outside of a global tensor it is zero; of a shared tile the coordinates lie inside. Of a fragment that each instance
    holds whole it is the only element, without coordinates.
    """

    tensor: ClassVar[ParamDef] = ParamDef()
    coordinates: ClassVar[ParamDef] = ParamDef(variadic=True, pattern=ScalarPat())

    def type_rule(self, ctx: TypeContext, whole: Expr, *coordinates: Expr | int) -> TensorType:  # type: ignore[override]
        """A scalar of the tensor's element type."""
        type_ = tensor(ctx, "tensor", whole)
        if len(coordinates) != (0 if type_.storage is StorageKind.RMEM else type_.rank):
            ctx.error(
                f"'coordinates' must have one entry for each axis of a tensor in memory, got {type_}",
                remedy="give one coordinate for each axis",
            )
        for k, coordinate in enumerate(coordinates):
            index(ctx, f"coordinates[{k}]", coordinate)
        return TensorType.umat_scalar(type_.dtype)


@register_op(dialect="T", category="memory", name="store_scalar")
@dataclass(frozen=True, slots=True)
class StoreScalar(EffectOp):
    """``StoreScalar()(value, tensor)``: the only element of a rank-0 output, written by one instance of each CTA."""

    value: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    tensor: ClassVar[ParamDef] = ParamDef()

    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, value: Expr, target: Expr) -> None:  # type: ignore[override]
        """A scalar, and a rank-0 tensor in global memory."""
        dtype, type_ = scalar(ctx, "value", value), tensor(ctx, "tensor", target)
        if type_.shape or type_.storage is not StorageKind.GMEM:
            ctx.error(f"'tensor' must be a rank-0 output, got {type_}", remedy="give an output of rank 0")
        if isinstance(value, Expr) and dtype != type_.dtype:
            ctx.error(
                f"'value' is {dtype} and 'tensor' is {type_.dtype}; dtypes never promote",
                remedy="convert the value: tf.cast(value, dtype)",
            )


@register_op(dialect="T", category="memory", name="check_window")
@dataclass(frozen=True, slots=True)
class CheckWindow(ValueOp):
    """``CheckWindow(axis)(start, size, extent)``: ``start``, of a window [start, start + size) in [0, extent).

    A launch in which the window leaves the axis is stopped, with the axis and the start in its message.
    """

    start: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    size: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    extent: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    axis: int

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, start: Expr | int, size: Expr | int, extent: Expr | int
    ) -> TensorType:
        """An index."""
        for name, value in (("start", start), ("size", size), ("extent", extent)):
            index(ctx, name, value)
        return INDEX_TYPE
