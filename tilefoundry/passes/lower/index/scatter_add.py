"""ScatterAdd: elements added one by one, by number."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import ScatterAdd
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.updates import updated, write_update
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.values import Value, Window


@lowers(ScatterAdd)
def lower_scatter_add(ctx: Lowering, call: Call) -> Value:
    return updated(ctx, call, _axis(call), add=True)


@writes(ScatterAdd)
def write_scatter_add(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_update(ctx, call, out, _axis(call), add=True, everywhere=everywhere)


def _axis(call: Call) -> int:
    assert isinstance(call.target, ScatterAdd)
    return normalize_axis(call.target.dim, tensor_type(call).rank)
