"""TupleGetItem."""

from __future__ import annotations

from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import TupleGetItem


def tuple_get_item(ctx: EvalContext, op: TupleGetItem, call: Call, values: tuple[Value, ...]) -> Value:
    """One of several values."""
    (fields,) = values
    assert isinstance(fields, tuple)
    return fields[op.index]
