"""Arange: a ramp, until a reshard says where."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Arange
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Ramp, Value


@lowers(Arange)
def lower_arange(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Arange)
    return Ramp(0, ctx.scalar(call.target.start), call.target.step)
