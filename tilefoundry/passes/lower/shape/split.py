"""SplitParts: each part that is used is a slice."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.hir import SplitParts
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.values import Value


@lowers(SplitParts)
def lower_split(ctx: Lowering, call: Call) -> Value:
    ctx.refuse(call, "the parts of a tensor are used as one value", remedy="unpack them: a, b = tf.split(...)")


def lower_part(ctx: Lowering, split: Call, index: int) -> Value:
    """The value of one part."""
    assert isinstance(split.target, SplitParts)
    (x,) = split.args
    assert isinstance(x, Expr)
    op, starts = split.target.windows(tensor_type(x))[index]
    return ctx.lower(Call(op, (x, starts), metadata=split.metadata))


fuses(SplitParts)
