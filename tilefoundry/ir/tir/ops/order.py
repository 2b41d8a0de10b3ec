"""Running sums and order along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.index import WindowOp
from tilefoundry.ir.tir.ops.rules import same_dtype, same_part, tensor, written


@register_op(dialect="T", category="order", name="scan")
@dataclass(frozen=True, slots=True)
class Scan(EffectOp):
    """``Scan(axis)(src, dst)``: sums of the elements up to each one, of fragments that hold the axis whole.

    Small floats are added in f32 and rounded once, integers wrap.
    """

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    axis: int

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """One element type, one part."""
        a, b = tensor(ctx, "src", src), written(ctx, "dst", dst)
        same_dtype(ctx, "src", a.dtype, "dst", b.dtype)
        same_part(ctx, "src", a, "dst", b)


@register_op(dialect="T", category="order", name="top_k")
@dataclass(frozen=True, slots=True)
class TopK(WindowOp):
    """``TopK(kept, everywhere, axis, largest)(src, .., values, .., indices, ..)``: the first elements in order.

    All are windows (see `tilefoundry.ir.tir.ops.index`); ``values`` and ``indices`` have as many elements along the
    axis as are wanted. NaN counts as the greatest, and of equal elements the first one comes first.
    """

    src: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef()
    extents: ClassVar[ParamDef] = ParamDef()
    values: ClassVar[ParamDef] = ParamDef()
    values_starts: ClassVar[ParamDef] = ParamDef()
    values_extents: ClassVar[ParamDef] = ParamDef()
    indices: ClassVar[ParamDef] = ParamDef()
    indices_starts: ClassVar[ParamDef] = ParamDef()
    indices_extents: ClassVar[ParamDef] = ParamDef()
    axis: int
    largest: bool

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (3, 6)

    def check(self, ctx: TypeContext, *args: Expr) -> None:
        """Values of the type of ``src``, integer indices."""
        self.check_windows(ctx, ("src", "values", "indices"), args)
        same_dtype(ctx, "src", tensor(ctx, "src", args[0]).dtype, "values", written(ctx, "values", args[3]).dtype)
        if not tensor(ctx, "indices", args[6]).dtype.is_integer:
            ctx.error(f"'indices' must be integers, got {tensor(ctx, 'indices', args[6])}", "give a tensor of i64")

    def shares(self, args: Sequence[Expr | int]) -> Dim:
        """One for each element."""
        return dim_product(self.windows(args)[0][2].elements)
