"""Reads and writes at run-time indices along one axis.

An operand in memory is a window: three arguments, a tensor in global or shared memory, a Tuple of start elements, one
for each of its axes, and a Tuple of extents, one for each axis that the window has. An operand in registers has empty
Tuples. Indices are checked when the kernel runs: one outside of [0, extent) stops the launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.dims import Dim
from tilefoundry.ir.dims.arith import dim_product
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import index, same_dtype, tensor, written
from tilefoundry.ir.types import StorageKind

Kept = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class WindowOp(EffectOp):
    """Base of the ops on windows.

    Attributes:
        kept: for each operand the axes of its tensor that the window has; () for one in registers.
        everywhere: the instances of all CTAs divide the work, not those of one.
    """

    kept: Kept
    everywhere: bool

    def shares(self, args: Sequence[Expr | int]) -> Dim:
        """Into how many parts the work divides."""
        raise NotImplementedError

    def windows(self, args: Sequence[Expr | int]) -> tuple[tuple[Expr, Tuple, Tuple], ...]:
        """The operands that may lie in memory, as (tensor, starts, extents)."""
        found = []
        for k in range(len(self.kept)):
            x, starts, extents = args[3 * k : 3 * k + 3]
            assert isinstance(x, Expr) and isinstance(starts, Tuple) and isinstance(extents, Tuple)
            found.append((x, starts, extents))
        return tuple(found)

    def check_windows(self, ctx: TypeContext, names: Sequence[str], args: Sequence[Expr | int]) -> None:
        """Refuses windows that do not fit their tensors; the last operand is written."""
        for k, name in enumerate(names):
            x, starts, extents = args[3 * k : 3 * k + 3]
            type_ = (written if k == len(names) - 1 else tensor)(ctx, name, x)
            in_registers = type_.storage is StorageKind.RMEM
            if not isinstance(starts, Tuple) or not isinstance(extents, Tuple):
                ctx.error(
                    f"'{name}' needs a tuple of starts and one of extents",
                    remedy="give one start and one extent for each axis",
                )
            wanted = (0, 0) if in_registers else (type_.rank, len(self.kept[k]))
            if (len(starts.elements), len(extents.elements)) != wanted:
                ctx.error(
                    f"the window of '{name}' does not fit its tensor of {type_}",
                    remedy="keep the window within the tensor",
                )
            for scalar in (*starts.elements, *extents.elements):
                index(ctx, name, scalar)


@register_op(dialect="T", category="index", name="gather")
@dataclass(frozen=True, slots=True)
class Gather(WindowOp):
    """``Gather(kept, everywhere, axis)(src, .., index, .., dst, ..)``: elements of a window at indices along an axis.

    ``dst`` at a coordinate is ``src`` there with entry ``axis`` replaced by the index: the one for that entry where the
    window of ``index`` has rank 1, else the one at the coordinate. ``dst`` is a fragment, or a window whose elements
    instances divide among them; ``index`` may be a fragment where ``dst`` is, with its part.
    """

    src: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef()
    extents: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    index_starts: ClassVar[ParamDef] = ParamDef()
    index_extents: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    dst_starts: ClassVar[ParamDef] = ParamDef()
    dst_extents: ClassVar[ParamDef] = ParamDef()
    axis: int

    reads: ClassVar[tuple[int, ...]] = (0, 3)
    writes: ClassVar[tuple[int, ...]] = (6,)

    def check(self, ctx: TypeContext, *args: Expr) -> None:
        """Integer indices; elements of one dtype."""
        self.check_windows(ctx, ("src", "index", "dst"), args)
        if not tensor(ctx, "index", args[3]).dtype.is_integer:
            ctx.error(
                f"'index' must be integers, got {tensor(ctx, 'index', args[3])}", remedy="give a tensor of i32 or i64"
            )
        same_dtype(ctx, "src", tensor(ctx, "src", args[0]).dtype, "dst", tensor(ctx, "dst", args[6]).dtype)

    def shares(self, args: Sequence[Expr | int]) -> Dim:
        """One for each element."""
        return dim_product(self.windows(args)[2][2].elements)


@register_op(dialect="T", category="index", name="index_update")
@dataclass(frozen=True, slots=True)
class IndexUpdate(WindowOp):
    """``IndexUpdate(kept, everywhere, axis, add)(dst, .., index, .., src, .., out, ..)``.

    ``out`` becomes ``dst`` with elements of ``src`` added (or in their place) at indices along an axis, in order: all
    are windows, and ``out`` overlaps none of the others.
    """

    dst: ClassVar[ParamDef] = ParamDef()
    dst_starts: ClassVar[ParamDef] = ParamDef()
    dst_extents: ClassVar[ParamDef] = ParamDef()
    index: ClassVar[ParamDef] = ParamDef()
    index_starts: ClassVar[ParamDef] = ParamDef()
    index_extents: ClassVar[ParamDef] = ParamDef()
    src: ClassVar[ParamDef] = ParamDef()
    starts: ClassVar[ParamDef] = ParamDef()
    extents: ClassVar[ParamDef] = ParamDef()
    out: ClassVar[ParamDef] = ParamDef()
    out_starts: ClassVar[ParamDef] = ParamDef()
    out_extents: ClassVar[ParamDef] = ParamDef()
    axis: int
    add: bool

    reads: ClassVar[tuple[int, ...]] = (0, 3, 6)
    writes: ClassVar[tuple[int, ...]] = (9,)

    def check(self, ctx: TypeContext, *args: Expr) -> None:
        """Integer indices; elements of one dtype."""
        self.check_windows(ctx, ("dst", "index", "src", "out"), args)
        if not tensor(ctx, "index", args[3]).dtype.is_integer:
            ctx.error(
                f"'index' must be integers, got {tensor(ctx, 'index', args[3])}", remedy="give a tensor of i32 or i64"
            )
        dtype = tensor(ctx, "out", args[9]).dtype
        for name, k in (("dst", 0), ("src", 6)):
            same_dtype(ctx, name, tensor(ctx, name, args[k]).dtype, "out", dtype)

    def shares(self, args: Sequence[Expr | int]) -> Dim:
        """One for each element."""
        return dim_product(self.windows(args)[3][2].elements)


@register_op(dialect="T", category="index", name="cache_update")
@dataclass(frozen=True, slots=True)
class CacheUpdate(WindowOp):
    """``CacheUpdate(kept, everywhere)(cache, .., new, .., out, .., position, count)``.

    ``out`` becomes ``cache`` with the first ``count`` positions (axis 1) of ``new`` from ``position`` on: all are
    windows. Positions that do not fit stop the launch.
    """

    cache: ClassVar[ParamDef] = ParamDef()
    cache_starts: ClassVar[ParamDef] = ParamDef()
    cache_extents: ClassVar[ParamDef] = ParamDef()
    new: ClassVar[ParamDef] = ParamDef()
    new_starts: ClassVar[ParamDef] = ParamDef()
    new_extents: ClassVar[ParamDef] = ParamDef()
    out: ClassVar[ParamDef] = ParamDef()
    out_starts: ClassVar[ParamDef] = ParamDef()
    out_extents: ClassVar[ParamDef] = ParamDef()
    position: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    count: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())

    reads: ClassVar[tuple[int, ...]] = (0, 3)
    writes: ClassVar[tuple[int, ...]] = (6,)

    def check(self, ctx: TypeContext, *args: Expr) -> None:
        """Integer positions; elements of one dtype."""
        self.check_windows(ctx, ("cache", "new", "out"), args)
        dtype = tensor(ctx, "out", args[6]).dtype
        for name, k in (("cache", 0), ("new", 3)):
            same_dtype(ctx, name, tensor(ctx, name, args[k]).dtype, "out", dtype)
        for name, k in (("position", 9), ("count", 10)):
            index(ctx, name, args[k])

    def shares(self, args: Sequence[Expr | int]) -> Dim:
        """One for each element."""
        return dim_product(self.windows(args)[2][2].elements)


@register_op(dialect="T", category="index", name="position_update")
@dataclass(frozen=True, slots=True)
class PositionUpdate(EffectOp):
    """``PositionUpdate()(position, count, new, dst)``: ``CacheUpdate`` in place on fragments with whole columns."""

    position: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    count: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    new: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()

    reads: ClassVar[tuple[int, ...]] = (2,)
    writes: ClassVar[tuple[int, ...]] = (3,)

    def check(self, ctx: TypeContext, position: Expr, count: Expr, new: Expr, dst: Expr) -> None:  # type: ignore[override]
        """Integer positions; elements of one dtype."""
        for name, scalar in (("position", position), ("count", count)):
            index(ctx, name, scalar)
        same_dtype(ctx, "new", tensor(ctx, "new", new).dtype, "dst", written(ctx, "dst", dst).dtype)


@register_op(dialect="T", category="index", name="row_update")
@dataclass(frozen=True, slots=True)
class RowUpdate(EffectOp):
    """``RowUpdate(axis, add)(index, src, dst)``: ``dst[index[k]] += src[k]`` (or ``=``) on fragments, in order.

    Instances hold whole columns along the axis; ``index`` has an entry for each row of ``src``, or its shape.
    """

    index: ClassVar[ParamDef] = ParamDef()
    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    axis: int
    add: bool

    reads: ClassVar[tuple[int, ...]] = (0, 1)
    writes: ClassVar[tuple[int, ...]] = (2,)

    def check(self, ctx: TypeContext, index: Expr, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """Integer indices; elements of one dtype."""
        if not tensor(ctx, "index", index).dtype.is_integer:
            ctx.error(
                f"'index' must be integers, got {tensor(ctx, 'index', index)}", remedy="give a tensor of i32 or i64"
            )
        same_dtype(ctx, "src", tensor(ctx, "src", src).dtype, "dst", written(ctx, "dst", dst).dtype)
