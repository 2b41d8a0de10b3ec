"""Reshard."""

from __future__ import annotations

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Reshard


def reshard(ctx: EvalContext, op: Reshard, call: Call, values: tuple[Value, ...]) -> Value:
    """The same logical value: who holds which element is no part of it."""
    return values[0]
