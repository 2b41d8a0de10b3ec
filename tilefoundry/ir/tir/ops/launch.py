"""The launch of a kernel by a host function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import index
from tilefoundry.ir.tir.symbols import SymbolRef


@register_op(dialect="T", category="launch", name="launch")
@dataclass(frozen=True, slots=True)
class Launch(EffectOp):
    """``Launch(...)(callee, args, grid, block)``: runs a kernel on a grid of CTAs.

    ``callee`` is a SymbolRef; ``args``, ``grid`` and ``block`` are tuples of expressions. Where the last two are empty,
    the kernel runs on its own meshes: their threads, and as many CTAs as its spread loops have use for.

    Attributes:
        cluster: CTAs of a cluster along up to three axes; None for no clusters.
        dynamic_smem: bytes of shared memory beyond what the kernel's own tiles take.
        stream: a name for the stream to launch on; None is the caller's current one.
        attrs: further launch attributes, as (name, value) pairs.
    """

    callee: ClassVar[ParamDef] = ParamDef()
    args: ClassVar[ParamDef] = ParamDef()
    grid: ClassVar[ParamDef] = ParamDef()
    block: ClassVar[ParamDef] = ParamDef()
    cluster: tuple[int, ...] | None = None
    dynamic_smem: int = 0
    stream: str | None = None
    attrs: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        if self.cluster is not None:
            extents = self.cluster if isinstance(self.cluster, (tuple, list)) else (self.cluster,)
            if not 1 <= len(extents) <= 3 or not all(type(e) is int and e >= 1 for e in extents):
                raise WrongValueError(
                    f"launch: cluster must be one to three positive ints, got {self.cluster!r}",
                    remedy="write cluster=(2, 1, 1)",
                )
            object.__setattr__(self, "cluster", tuple(extents))
        if isinstance(self.dynamic_smem, bool) or not isinstance(self.dynamic_smem, int) or self.dynamic_smem < 0:
            raise WrongValueError(
                f"launch: dynamic_smem must be a number of bytes, got {self.dynamic_smem!r}", remedy="write 0 or more"
            )
        if self.stream is not None and not isinstance(self.stream, str):
            raise WrongTypeError(
                f"launch: stream must be a name, got {self.stream!r}", remedy="leave it out for the caller's stream"
            )
        if not isinstance(self.attrs, (tuple, list)) or not all(
            isinstance(a, tuple) and len(a) == 2 and isinstance(a[0], str) for a in self.attrs
        ):
            raise WrongTypeError(
                f"launch: attrs must be (name, value) pairs, got {self.attrs!r}", remedy="write ((name, value),)"
            )
        object.__setattr__(self, "attrs", tuple(self.attrs))

    def check(self, ctx: TypeContext, callee: Expr, args: Expr, grid: Expr, block: Expr) -> None:  # type: ignore[override]
        """A symbol; one to three integer extents of grid and block, or none of both."""
        if not isinstance(callee, SymbolRef):
            ctx.error(
                f"the callee must be a @prim_func, got a value of type {callee.type}",
                remedy="name a function decorated with @prim_func",
            )
        own_meshes = isinstance(grid, Tuple) and isinstance(block, Tuple) and not grid.elements and not block.elements
        for name, extents in (("grid", grid), ("block", block)) if not own_meshes else ():
            if not isinstance(extents, Tuple) or not 1 <= len(extents.elements) <= 3:
                ctx.error(f"'{name}' must be one to three extents", f"write {name}=(1, 1, 1)")
            for k, extent in enumerate(extents.elements):
                index(ctx, f"{name}[{k}]", extent)
        if not isinstance(args, Tuple):
            ctx.error("'args' must be a tuple of expressions", remedy="write launch(kernel, a, o, grid=..., block=...)")
