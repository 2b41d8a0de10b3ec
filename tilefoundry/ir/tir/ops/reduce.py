"""Reduction along logical axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.hir.common import normalize_axes
from tilefoundry.ir.hir.kinds import ReduceKind
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import same_dtype, tensor, written
from tilefoundry.ir.types import StorageKind


@register_op(dialect="T", category="reduce", name="reduce")
@dataclass(frozen=True, slots=True)
class Reduce(EffectOp):
    """``Reduce(axes, kind)(src, dst[, workspace])``: instances that share an output element all receive it.

    ``dst`` keeps the reduced axes, with extent 1. ``workspace`` is a shared tensor; it is needed when a reduced axis is
    spread over more than one warp, and may be used again at once: the op orders its own accesses.
    """

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    workspace: ClassVar[ParamDef] = ParamDef(optional=True)
    axes: tuple[int, ...]
    kind: ReduceKind

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)
    collective: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.axes, (tuple, list)) or not self.axes:
            raise WrongTypeError(f"reduce: axes must be a tuple of axes, got {self.axes!r}", remedy="write axes=(1,)")
        object.__setattr__(self, "axes", tuple(self.axes))
        if not isinstance(self.kind, ReduceKind):
            raise WrongTypeError(f"reduce: kind must be a ReduceKind, got {self.kind!r}", remedy="ReduceKind.SUM")

    def check(self, ctx: TypeContext, src: Expr, dst: Expr, workspace: Expr | None = None) -> None:  # type: ignore[override]
        """``dst`` has the shape of ``src`` with 1 on the reduced axes, and its element type."""
        a, b = tensor(ctx, "src", src), written(ctx, "dst", dst)
        axes = normalize_axes(self.axes, a.rank)
        expected = tuple(1 if axis in axes else extent for axis, extent in enumerate(a.shape))
        if a.rank != b.rank or not all(map(dim_equal, expected, b.shape)):
            ctx.error(
                f"'dst' must have the shape {expected} (reduced axes have extent 1), got {b.shape}",
                remedy="allocate 'dst' with this shape",
            )
        same_dtype(ctx, "src", a.dtype, "dst", b.dtype)
        if workspace is not None and tensor(ctx, "workspace", workspace).storage is not StorageKind.SMEM:
            ctx.error("'workspace' must lie in smem", "allocate it with StorageKind.SMEM")
