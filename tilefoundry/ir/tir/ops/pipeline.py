"""The software pipeline that orders asynchronous tile loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.tir.ops.base import EffectOp, ValueOp


@dataclass(frozen=True, slots=True)
class Pipeline(ValueOp):
    """``Pipeline(stages)()``: a ring of ``stages`` buffers."""

    stages: int


@dataclass(frozen=True, slots=True)
class PipeAcquire(EffectOp):
    """``PipeAcquire()(pipe)``: the next stage may be overwritten by the loads that follow."""

    collective: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class PipeCommit(EffectOp):
    """``PipeCommit()(pipe)``: the loads since the last commit are one stage."""


@dataclass(frozen=True, slots=True)
class PipeWait(EffectOp):
    """``PipeWait(pending)(pipe)``: all but the newest ``pending`` stages have landed, for every instance of the CTA."""

    pending: int

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class PipeRelease(EffectOp):
    """``PipeRelease()(pipe)``: this instance has read the oldest stage."""


@dataclass(frozen=True, slots=True)
class PipeDrain(EffectOp):
    """``PipeDrain()(pipe)``: nothing is in flight and every instance has read what it needs."""

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True
