"""Bulk movement between global tensors and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import index, same_dtype, scalar, tensor, written
from tilefoundry.ir.types import StorageKind, TensorType


@register_op(dialect="T", category="tile", name="tile_load")
@dataclass(frozen=True, slots=True)
class TileLoad(EffectOp):
    """``TileLoad(box)(tensor, coordinates, dst[, pipe])``: the box of ``tensor`` at ``coordinates``; beyond it, zero.

    ``box`` has one extent per axis of ``tensor``; axes of extent 1 that ``dst`` lacks are dropped. A shared
    ``dst`` is filled by the whole CTA asynchronously, as a stage of ``pipe``; a fragment by each instance for itself.
    """

    tensor: ClassVar[ParamDef] = ParamDef()
    coordinates: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    pipe: ClassVar[ParamDef] = ParamDef(optional=True, pattern=ScalarPat())
    box: tuple[int, ...]

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (2,)
    collective: ClassVar[bool] = True

    def check(  # type: ignore[override]
        self, ctx: TypeContext, source: Expr, coordinates: Expr, dst: Expr, pipe: Expr | None = None
    ) -> None:
        """A box of the tensor's rank, as large as ``dst``."""
        _check_box(ctx, self.box, tensor(ctx, "tensor", source), coordinates, "dst", written(ctx, "dst", dst))


@register_op(dialect="T", category="tile", name="tile_store")
@dataclass(frozen=True, slots=True)
class TileStore(EffectOp):
    """``TileStore(box)(src, tensor, coordinates)``: the counterpart; nothing is written beyond the extents."""

    src: ClassVar[ParamDef] = ParamDef()
    tensor: ClassVar[ParamDef] = ParamDef()
    coordinates: ClassVar[ParamDef] = ParamDef()
    box: tuple[int, ...]

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, target: Expr, coordinates: Expr) -> None:  # type: ignore[override]
        """A box of the tensor's rank, as large as ``src``."""
        _check_box(ctx, self.box, written(ctx, "tensor", target), coordinates, "src", tensor(ctx, "src", src))


@register_op(dialect="T", category="tile", name="whole_copy")
@dataclass(frozen=True, slots=True)
class WholeCopy(EffectOp):
    """``WholeCopy(everywhere)(src, dst)``: all of a tensor that no instance owns a part of, to another as large.

    Along an axis of extent 1 of a shared source its elements repeat.

    Attributes:
        everywhere: the instances of all CTAs divide the elements, not those of one.
        backwards: axes along which the source is read from its last element on.
    """

    src: ClassVar[ParamDef] = ParamDef()
    dst: ClassVar[ParamDef] = ParamDef()
    everywhere: bool = False
    backwards: tuple[int, ...] = ()

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, src: Expr, dst: Expr) -> None:  # type: ignore[override]
        """Two whole tensors of one storage, element type and rank; what the source lacks is zero."""
        source, target = tensor(ctx, "src", src), written(ctx, "dst", dst)
        _whole(ctx, "src", source)
        _whole(ctx, "dst", target)
        same_dtype(ctx, "src", source.dtype, "dst", target.dtype)
        if source.storage is not target.storage or source.rank != target.rank:
            ctx.error(f"'src' is {source} and 'dst' is {target}", "give both one storage and the same extents")


@register_op(dialect="T", category="tile", name="whole_fill")
@dataclass(frozen=True, slots=True)
class WholeFill(EffectOp):
    """``WholeFill(everywhere)(value, dst)``: every element becomes a scalar; divided as by ``WholeCopy``."""

    value: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    dst: ClassVar[ParamDef] = ParamDef()
    everywhere: bool = False

    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, value: Expr | int, dst: Expr) -> None:  # type: ignore[override]
        """A scalar of the element type."""
        type_ = written(ctx, "dst", dst)
        _whole(ctx, "dst", type_)
        same_dtype(ctx, "value", scalar(ctx, "value", value), "dst", type_.dtype)


@register_op(dialect="T", category="tile", name="whole_iota")
@dataclass(frozen=True, slots=True)
class WholeIota(EffectOp):
    """``WholeIota(axis, step, everywhere)(start, dst)``: start + step * (coordinate along ``axis``), likewise."""

    start: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    dst: ClassVar[ParamDef] = ParamDef()
    axis: int
    step: int
    everywhere: bool = False

    writes: ClassVar[tuple[int, ...]] = (1,)

    def check(self, ctx: TypeContext, start: Expr | int, dst: Expr) -> None:  # type: ignore[override]
        """An integer, and integer elements along an axis of ``dst``."""
        type_ = written(ctx, "dst", dst)
        _whole(ctx, "dst", type_)
        index(ctx, "start", start)
        if not type_.dtype.is_integer or not 0 <= self.axis < type_.rank:
            ctx.error(f"'dst' of type {type_} holds no integers along axis {self.axis}", "cast the numbers afterwards")


def _whole(ctx: TypeContext, name: str, type_: TensorType) -> None:
    if type_.storage not in (StorageKind.SMEM, StorageKind.GMEM) or isinstance(type_.layout, ShardLayout):
        ctx.error(
            f"'{name}' must be a whole tensor in smem or gmem, got {type_}", "use T.copy, of each instance's part"
        )


def _check_box(
    ctx: TypeContext, box: tuple[int, ...], whole: TensorType, coordinates: Expr, name: str, tile: TensorType
) -> None:
    rank = whole.rank
    if not isinstance(coordinates, Tuple) or len(coordinates.elements) != rank or len(box) != rank:
        ctx.error(
            f"'box' and 'coordinates' must have one entry for each axis of {whole}",
            remedy="give one extent and one coordinate for each axis",
        )
    for k, coordinate in enumerate(coordinates.elements):
        index(ctx, f"coordinates[{k}]", coordinate)
    if [e for e in box if e != 1] != [e for e in tile.shape if e != 1]:
        ctx.error(
            f"the box {box} does not have the extents of '{name}', {tile.shape}",
            remedy="give the tile the extents of the box",
        )
    same_dtype(ctx, "tensor", whole.dtype, name, tile.dtype)
