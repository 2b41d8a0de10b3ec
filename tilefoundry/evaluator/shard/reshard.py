"""Reshard."""

from __future__ import annotations

from tilefoundry.evaluator.collect import resharded
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.types import TensorType


def reshard(ctx: EvalContext, op: Reshard, call: Call, values: tuple[Value, ...]) -> Value:
    """The same logical value: terms of a Partial are reduced, copies must agree; owners are no part of it."""
    (x,) = call.args
    if ctx.units is None:
        return values[0]
    assert isinstance(x, Expr) and isinstance(x.type, TensorType) and isinstance(call.type, TensorType)
    name = binding_name(x) or binding_name(call)
    return resharded(ctx.units, values[0], x.type, call.type, f"reshard{f' of {name!r}' if name else ''}")
