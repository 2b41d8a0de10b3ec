"""MeshCoordinate: which instance runs, as a value."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import MeshCoordinate
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(MeshCoordinate)
def lower_mesh_coordinate(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, MeshCoordinate)
    ctx.refuse(
        call,
        f"reading the coordinate along mesh axis '{op.axis.name}' cannot be compiled yet",
        remedy="place values with 'extent @ mesh.axis', and spread loops with 'for i in range(n) @ mesh.axis'",
    )
