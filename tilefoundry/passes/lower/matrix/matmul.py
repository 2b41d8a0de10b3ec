"""MatMul: a tile of the product of global tensors is computed where it is placed; one of shared tiles at once.

Of two fragments each instance multiplies what it holds (``local.py``).
"""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.hir import MatMul
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, is_unplaced
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.matrix.in_registers import in_registers, suits_registers
from tilefoundry.passes.lower.matrix.local import is_local, local_product
from tilefoundry.passes.lower.matrix.of_tiles import of_tiles
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Product, Value


@lowers(MatMul)
def lower_matmul(ctx: Lowering, call: Call) -> Value:
    left, right = call.args
    assert isinstance(left, Expr) and isinstance(right, Expr)  # tensors: not ints
    if is_unplaced(call) and tensor_type(call).storage is not StorageKind.SMEM:
        return deferred(call)
    if is_local(call):
        return local_product(ctx, call)
    # A reshard may have left a left operand in registers.
    held = ctx.lower(left)
    lhs = held if isinstance(held, Var) and tensor_type(left).storage is StorageKind.SMEM else ctx.shared(left, call)
    rhs = ctx.shared(right, call)
    if any(len(tensor_type(tile).shape) != 2 for tile in (lhs, rhs)):
        ctx.refuse(
            call,
            f"a compiled product takes two tiles of rank 2, got {tensor_type(lhs).shape} @ {tensor_type(rhs).shape}",
            remedy="loop over the batch axes with `for b in range(extent)`",
        )
    return Product(lhs, rhs)


@computes_tiles(MatMul)
def matmul_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    return in_registers(p, call, tile) if suits_registers(tile) else of_tiles(p, call, tile)
