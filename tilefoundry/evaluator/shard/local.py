"""Local."""

from __future__ import annotations

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import Local
from tilefoundry.ir.shard import Broadcast, ShardLayout, Split
from tilefoundry.ir.types import TensorType


def local(ctx: EvalContext, op: Local, call: Call, values: tuple[Value, ...]) -> Value:
    """The part of `x` that a unit holds, where all units hold the whole of it.

    Raises:
        EvalError: units hold different parts, so that there is no one value.
    """
    (x,) = call.args
    assert isinstance(x, Expr) and isinstance(x.type, TensorType) and isinstance(x.type.layout, ShardLayout)
    layout = x.type.layout
    for axis, attr in enumerate(layout.attrs):
        whole = isinstance(attr, Broadcast) or (isinstance(attr, Split) and ctx.extent(layout.mesh.shape[axis]) == 1)
        if not whole:
            name = layout.mesh.names[axis] if layout.mesh.names else str(axis)
            raise EvalError(
                f"local: the value is {attr} along mesh axis '{name}', so each unit has a part of its own; "
                "the evaluator computes whole tensors",
                remedy="evaluate the program without tf.local, or compile it",
            )
    return values[0]
