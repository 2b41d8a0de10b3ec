"""Reduction along logical axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.hir.kinds import ReduceKind
from tilefoundry.ir.tir.ops.base import EffectOp


@dataclass(frozen=True, slots=True)
class Reduce(EffectOp):
    """``Reduce(kind, axes)(src, dst[, workspace])``: instances that share an output element all receive it.

    ``workspace`` is a shared tensor; it is needed when a reduced axis is spread over more than one warp, and may be
    used again at once: the op orders its own accesses.
    """

    kind: ReduceKind
    axes: tuple[int, ...]

    reads: ClassVar[tuple[int, ...]] = (0,)
    writes: ClassVar[tuple[int, ...]] = (1,)
    collective: ClassVar[bool] = True
