"""ShapeOf: the extents, which the launch knows, as a vector of scalars."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.hir import ShapeOf
from tilefoundry.ir.types import INDEX_TYPE
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Join, Value


@lowers(ShapeOf)
def lower_shape_of(ctx: Lowering, call: Call) -> Value:
    (x,) = call.args
    assert isinstance(x, Expr)
    shape = tensor_type(x).shape
    extents = tuple(Constant(e, INDEX_TYPE) if isinstance(e, int) else e for e in shape)
    return Join(0, extents, (1,) * len(shape))
