"""Local: an instance's own part of a fragment, as registers that every thread has for itself.

Parts of what lies in memory are fragments by now (``held_parts.py``).
"""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Local
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Local)
def lower_local(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    if not tensor_type(x).shape:
        return ctx.lower(x)  # a number, or a term of one, which each instance has
    part = ctx.fragment(x, call)
    return ctx.view(part, tensor_type(Call(Local(), (part,), metadata=call.metadata)))
