"""Gather: an element for each index."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Gather
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.reads import chosen, write_value
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.values import Value, Window


@lowers(Gather)
def lower_gather(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Gather)
    return chosen(ctx, call, normalize_axis(call.target.dim, tensor_type(call).rank))


@writes(Gather)
def write_gather(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_value(ctx, call, out, everywhere)
