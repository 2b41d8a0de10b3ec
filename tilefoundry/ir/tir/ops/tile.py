"""Bulk movement between global tensors and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.tir.ops.base import EffectOp
from tilefoundry.ir.tir.ops.rules import index, same_dtype, tensor, written
from tilefoundry.ir.types import TensorType


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


def _check_box(
    ctx: TypeContext, box: tuple[int, ...], whole: TensorType, coordinates: Expr, name: str, tile: TensorType
) -> None:
    rank = whole.rank
    if not isinstance(coordinates, Tuple) or len(coordinates.elements) != rank or len(box) != rank:
        ctx.error(f"'box' and 'coordinates' must have one entry for each axis of {whole}")
    for k, coordinate in enumerate(coordinates.elements):
        index(ctx, f"coordinates[{k}]", coordinate)
    if [e for e in box if e != 1] != [e for e in tile.shape if e != 1]:
        ctx.error(f"the box {box} does not have the extents of '{name}', {tile.shape}")
    same_dtype(ctx, "tensor", whole.dtype, name, tile.dtype)
