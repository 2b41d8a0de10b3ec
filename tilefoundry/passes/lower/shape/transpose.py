"""Transpose of a shared tile: the same memory with its strides permuted."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import Transpose
from tilefoundry.ir.shard import ComposedLayout, Layout
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Uniform, Value
from tilefoundry.passes.operands import transposed


@lowers(Transpose)
def lower_transpose(ctx: Lowering, call: Call) -> Value:
    assert isinstance(call.target, Transpose)
    (x,) = call.args
    if isinstance(uniform := ctx.lower(x), Uniform):  # type: ignore[arg-type]  # a tensor: not an int
        return uniform
    tile = ctx.shared(x, call)  # type: ignore[arg-type]
    type_ = tensor_type(tile)
    assert isinstance(type_.layout, (Layout, ComposedLayout))  # shared tiles belong to the whole CTA
    perm = call.target.perm
    shape = tuple(type_.shape[axis] for axis in perm)
    return ctx.view(tile, TensorType(shape, type_.dtype, transposed(type_.layout, perm), type_.storage))
