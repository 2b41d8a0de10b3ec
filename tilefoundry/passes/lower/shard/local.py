"""Local: an instance's own part of a fragment, as a value of its own."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Local
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(Local)
def lower_local(ctx: Lowering, call: Call) -> Value:
    ctx.refuse(
        call,
        "tf.local cannot be compiled yet: ops on fragments work on each instance's own part as it is",
        remedy="apply the op to the fragment itself",
    )
