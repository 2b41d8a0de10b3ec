"""The software pipeline that orders asynchronous tile loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.ir.core.op import ParamDef, TypeContext, register_op
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.tir.ops.base import EffectOp, ValueOp
from tilefoundry.ir.types import INDEX_TYPE, TensorType


@register_op(dialect="T", category="pipeline", name="pipeline")
@dataclass(frozen=True, slots=True)
class Pipeline(ValueOp):
    """``Pipeline(stages)()``: a ring of ``stages`` buffers."""

    stages: int

    def type_rule(self, ctx: TypeContext) -> TensorType:  # type: ignore[override]
        """A pipeline is bound like a scalar: it has a name, and no element to read."""
        return INDEX_TYPE


@register_op(dialect="T", category="pipeline", name="pipe_acquire")
@dataclass(frozen=True, slots=True)
class PipeAcquire(EffectOp):
    """``PipeAcquire()(pipe)``: the next stage may be overwritten by the loads that follow."""

    pipe: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())

    collective: ClassVar[bool] = True


@register_op(dialect="T", category="pipeline", name="pipe_commit")
@dataclass(frozen=True, slots=True)
class PipeCommit(EffectOp):
    """``PipeCommit()(pipe)``: the loads since the last commit are one stage."""

    pipe: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())


@register_op(dialect="T", category="pipeline", name="pipe_wait")
@dataclass(frozen=True, slots=True)
class PipeWait(EffectOp):
    """``PipeWait(pending)(pipe)``: all but the newest ``pending`` stages have landed, for every instance of the CTA."""

    pipe: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())
    pending: int

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True


@register_op(dialect="T", category="pipeline", name="pipe_release")
@dataclass(frozen=True, slots=True)
class PipeRelease(EffectOp):
    """``PipeRelease()(pipe)``: this instance has read the oldest stage."""

    pipe: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())


@register_op(dialect="T", category="pipeline", name="pipe_drain")
@dataclass(frozen=True, slots=True)
class PipeDrain(EffectOp):
    """``PipeDrain()(pipe)``: nothing is in flight and every instance has read what it needs."""

    pipe: ClassVar[ParamDef] = ParamDef(pattern=ScalarPat())

    collective: ClassVar[bool] = True
    barrier: ClassVar[bool] = True
