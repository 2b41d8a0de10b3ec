"""Local."""

from __future__ import annotations

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.placement import owned, placement_of
from tilefoundry.evaluator.spread import lift, settled
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Local
from tilefoundry.ir.types import TensorType


def local(ctx: EvalContext, op: Local, call: Call, values: tuple[Value, ...]) -> Value:
    """The part of `x` that each unit holds; of a Partial its own term, of a Broadcast its own copy."""
    units = ctx.units
    if units is None:  # every unit holds the whole
        return values[0]
    (x,) = call.args
    assert isinstance(x, Expr) and isinstance(x.type, TensorType)
    data = lift(units, values[0])
    placement = placement_of(units, x.type, data.shape[units.rank :], ctx.extent)
    return settled(units, owned(units, placement, data, placement.owners()))
