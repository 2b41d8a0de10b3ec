"""MatMul of two shared tiles: accumulated in registers, where a reshard puts it."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.hir import MatMul
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.values import Product, Value


@lowers(MatMul)
def lower_matmul(ctx: Lowering, call: Call) -> Value:
    lhs, rhs = (ctx.shared(arg, call) for arg in call.args)  # type: ignore[arg-type]  # tensors: not ints
    if any(len(tensor_type(tile).shape) != 2 for tile in (lhs, rhs)):
        ctx.refuse(
            call,
            f"a compiled product takes two tiles of rank 2, got {tensor_type(lhs).shape} @ {tensor_type(rhs).shape}",
            remedy="loop over the batch axes with `for b in range(extent)`",
        )
    return Product(lhs, rhs)
