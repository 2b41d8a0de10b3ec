"""InsertSlice: only ever the update of an output, which ``outputs.py`` lowers; as a value of its own it is refused."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import InsertSlice
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Value


@lowers(InsertSlice)
def lower_insert_slice(ctx: Lowering, call: Call) -> Value:
    ctx.refuse(
        call,
        "tf.insert_slice can be compiled as the update of a result that a loop fills, not as an intermediate value",
        remedy="start from tf.zeros(...) before the loop, update it in the loop, and return it",
    )
