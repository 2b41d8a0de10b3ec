"""Asynchronous copies of each instance's own part, in groups that are awaited later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import same_dtype, same_part, tensor, written
from tilefoundry.ir.types import StorageKind


@register_op(dialect="T", category="async", name="copy_async")
@dataclass(frozen=True, slots=True)
class CopyAsync(EffectOp):
    """``CopyAsync()(src, dst)``: starts to copy each instance's part of a global tensor into its part of a tile."""

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """From gmem to smem; one element type, one part."""
        a, b = tensor(ctx, "src", src), written(ctx, "dst", dst)
        if a.storage is not StorageKind.GMEM or b.storage is not StorageKind.SMEM:
            ctx.error(f"copies from gmem to smem, got {a.storage} to {b.storage}", "use T.copy between these")
        same_dtype(ctx, "src", a.dtype, "dst", b.dtype)
        same_part(ctx, "src", a, "dst", b)


@register_op(dialect="T", category="async", name="cp_async_commit")
@dataclass(frozen=True, slots=True)
class CpAsyncCommit(EffectOp):
    """``CpAsyncCommit()()``: this instance's copies since the last commit are one group."""


@register_op(dialect="T", category="async", name="cp_async_wait")
@dataclass(frozen=True, slots=True)
class CpAsyncWait(EffectOp):
    """``CpAsyncWait(n)()``: all but this instance's newest ``n`` groups have landed.

    It says nothing about other instances: a barrier must follow before their parts are read.
    """

    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int):
            raise WrongTypeError(f"cp_async_wait: n must be an int, got {self.n!r}", remedy="write n=0")
        if self.n < 0:
            raise WrongValueError(
                f"cp_async_wait: n must not be negative, got {self.n}", remedy="write n=0 to wait for all"
            )
