"""Bulk movement between global tensors and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.tir.ops.base import EffectOp


@dataclass(frozen=True, slots=True)
class TileLoad(EffectOp):
    """``TileLoad(box)(tensor, coordinates, dst[, pipe])``: the box of ``tensor`` at ``coordinates``; beyond it, zero.

    ``box`` has one extent per axis of ``tensor``; axes of extent 1 that ``dst`` lacks are dropped. A shared
    ``dst`` is filled by the whole CTA asynchronously, as a stage of ``pipe``; a fragment by each instance for itself.
    """

    box: tuple[int, ...]

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (2,)
    collective: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class TileStore(EffectOp):
    """``TileStore(box)(src, tensor, coordinates)``: the counterpart; nothing is written beyond the extents."""

    box: tuple[int, ...]

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)
