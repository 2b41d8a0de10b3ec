"""InsertSlice: of registers, a copy with a window overwritten. That of an output is lowered by ``outputs.py``."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.hir import InsertSlice
from tilefoundry.ir.hir.shape.insert_slice import update_axes
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.shape.place import write
from tilefoundry.passes.lower.shape.slice import whole
from tilefoundry.passes.lower.shape.windows import part
from tilefoundry.passes.lower.values import Value


@lowers(InsertSlice)
def lower_insert_slice(ctx: Lowering, call: Call) -> Value:
    op = call.target
    assert isinstance(op, InsertSlice)
    dst, update, offsets = call.args
    assert isinstance(dst, Expr) and isinstance(update, Expr) and isinstance(offsets, Tuple)
    if tensor_type(call).storage is not StorageKind.RMEM:
        ctx.refuse(
            call,
            "tf.insert_slice can be compiled as the update of a result that a loop fills, or of registers, not as an "
            "intermediate value",
            remedy="start from tf.zeros(...) before the loop, update it in the loop, and return it; or insert into a "
            "value in registers",
        )
    starts = [ctx.scalar(offset) for offset in offsets.elements]
    if not all(isinstance(start, int) for start in starts):
        ctx.refuse(
            call,
            f"registers are indexed by numbers that are known when the program is compiled, got "
            f"({', '.join(map(format_dim, starts))})",
            remedy="update a result in global memory, or choose by tf.where on tf.arange(...)",
        )
    result = ctx.result(call, "inserted")
    write(ctx, call, ctx.lower(dst), result)
    if 0 not in op.sizes:
        filled = update_axes(op.sizes, tensor_type(update).shape)
        assert filled is not None  # of what the type rule accepts
        lacking = tuple(axis for axis in range(len(op.sizes)) if axis not in filled)
        window = part(ctx, call, result, starts, op.sizes, (1,) * len(op.sizes), lacking)
        gmem = tensor_type(update).storage is StorageKind.GMEM
        write(ctx, call, (whole(ctx, update) if gmem else None) or ctx.lower(update), window)
    return result
