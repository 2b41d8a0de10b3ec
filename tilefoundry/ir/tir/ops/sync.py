"""Barriers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.op import register_op
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.tir.ops.base import EffectOp


@register_op(dialect="T", category="sync", name="sync")
@dataclass(frozen=True, slots=True)
class Sync(EffectOp):
    """``Sync(mesh)()``: the units of ``mesh`` meet, and see what the others wrote before.

    None is the whole CTA. Which instruction that is follows from the units: `tilefoundry.ir.tir.barriers`.
    """

    mesh: Mesh | None = None

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.mesh is not None and not isinstance(self.mesh, Mesh):
            raise WrongTypeError(f"sync: expected a mesh, got {self.mesh!r}", remedy="write T.sync(m)")
