"""Barriers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.tir.ops.base import EffectOp


@dataclass(frozen=True, slots=True)
class Sync(EffectOp):
    """``Sync()()``: the instances of a CTA meet, and see each other's shared memory."""

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True
