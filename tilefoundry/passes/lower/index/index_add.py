"""IndexAdd: rows added to rows, by number."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import IndexAdd
from tilefoundry.ir.hir.common import normalize_axis
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.updates import updated, write_update
from tilefoundry.passes.lower.registry import lowers, writes
from tilefoundry.passes.lower.values import Value, Window


@lowers(IndexAdd)
def lower_index_add(ctx: Lowering, call: Call) -> Value:
    return updated(ctx, call, _axis(call), add=True)


@writes(IndexAdd)
def write_index_add(ctx: Lowering, call: Call, out: Window, everywhere: bool) -> None:
    write_update(ctx, call, out, _axis(call), add=True, everywhere=everywhere)


def _axis(call: Call) -> int:
    assert isinstance(call.target, IndexAdd)
    return normalize_axis(call.target.dim, tensor_type(call).rank)
