"""MeshCoordinate."""

from __future__ import annotations

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.spread import settled_index
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import MeshCoordinate


def mesh_coordinate(ctx: EvalContext, op: MeshCoordinate, call: Call, values: tuple[Value, ...]) -> Value:
    """For each unit, its coordinate along the axis."""
    assert ctx.units is not None, "a program that reads a coordinate is evaluated over units"
    return settled_index(ctx.units, ctx.units.coordinate(op.axis, ctx.device))
