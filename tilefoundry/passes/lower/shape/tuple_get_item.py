"""TupleGetItem: one of the values that a loop carries or an op has, or one part of a tensor."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Tuple
from tilefoundry.ir.hir import GridRegionExpr, SplitParts, TupleGetItem
from tilefoundry.passes.lower.context import Lowering
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.shape.split import lower_part
from tilefoundry.passes.lower.values import Parts, Value


@lowers(TupleGetItem)
def lower_tuple_get_item(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, TupleGetItem)
    (source,) = call.args
    match source:
        case GridRegionExpr():
            return ctx.value_of_loop(call, source, call.target.index)
        case Call(target=SplitParts()):
            return lower_part(ctx, source, call.target.index)
        case Tuple(elements=elements):
            return ctx.lower(elements[call.target.index])  # type: ignore[arg-type]  # tensors: not ints
        case Call() if isinstance(parts := ctx.lower(source), Parts):
            return parts.values[call.target.index]
    ctx.refuse(
        call,
        f"expected the values that a loop carries, or the parts of a tensor, got {source}",
        remedy="give the element a name where the tuple is made",
    )


fuses(TupleGetItem)
