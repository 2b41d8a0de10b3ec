"""Binary: both operands in registers, or one of them a scalar."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import INDEX_TYPE, dim_add
from tilefoundry.ir.hir import Binary, BinaryKind, MatMul, Reshard
from tilefoundry.ir.types import ShapeDim
from tilefoundry.passes.lower.context import Lowering, is_scalar, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles
from tilefoundry.passes.lower.elementwise.operands import elementwise_tile, operand, without_place
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.matrix.instruction import add_product, is_instruction
from tilefoundry.passes.lower.matrix.local import is_local
from tilefoundry.passes.lower.registry import fuses, lowers
from tilefoundry.passes.lower.shard.reshard import add_matrix_product
from tilefoundry.passes.lower.tile import Tile
from tilefoundry.passes.lower.values import Product, Ramp, Value


@lowers(Binary)
def lower_binary(ctx: Lowering, call: Call) -> Value:
    lhs, rhs = (arg if isinstance(arg, Expr) else _index(arg) for arg in call.args)
    assert isinstance(call.target, Binary)
    kind = call.target.kind
    if kind is BinaryKind.ADD and (ramp := _moved_ramp(ctx, lhs, rhs)) is not None:
        return ramp
    if (value := without_place(ctx, call)) is not None:
        return value
    if kind is BinaryKind.ADD:
        for addend, other in ((lhs, rhs), (rhs, lhs)):
            if _placed_product(other) and not is_scalar(addend):
                return _accumulate(ctx, call, addend, other)
            if is_instruction(other) and not is_scalar(addend):
                return _accumulate_instruction(ctx, call, addend, other)
    dst = ctx.result(call, kind.name.lower())
    ctx.emit(tir.Binary(kind), operand(ctx, call, lhs, dst), operand(ctx, call, rhs, dst), dst)
    return dst


@computes_tiles(Binary)
def binary_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    """A tile of the values; what lies beyond the end of the tensor is stored nowhere, and divides by one there."""
    assert isinstance(call.target, Binary)
    if call.target.kind not in (BinaryKind.FLOOR_DIV, BinaryKind.MOD):
        return elementwise_tile(p, call, tile)
    lhs, rhs = (tile.matching(p, arg if isinstance(arg, Expr) else _index(arg)) for arg in call.args)
    shape = tensor_type(rhs).shape
    for k, own in enumerate(shape):
        axis = len(tile.sizes) - len(shape) + k
        if own != 1 and _overhangs(tile, axis, tensor_type(call).shape[axis]):
            rhs = tile.up_to(p, rhs, axis, tensor_type(call).shape[axis], 1)
    return p.call(call.target, lhs, rhs)


fuses(Binary)


def _overhangs(tile: Tile, axis: int, extent: ShapeDim) -> bool:
    """Whether a tile may reach beyond the end of an axis."""
    size = tile.sizes[axis]
    return not (isinstance(extent, int) and tile.steps[axis] % size == 0 and extent % size == 0)


def _moved_ramp(ctx: Lowering, lhs: Expr, rhs: Expr) -> Ramp | None:
    """A ramp that starts elsewhere, where an index is added to one."""
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if is_scalar(other) and not is_scalar(value) and isinstance(ramp := ctx.lower(value), Ramp):
            start = ctx.lower(other)
            if isinstance(start, Expr):
                return Ramp(ramp.axis, dim_add(ramp.start, ctx.scalar(other)), ramp.step)
    return None


def _placed_product(expr: Expr) -> bool:
    """Whether ``expr`` is a product of shared tiles that goes straight to registers."""
    match expr:
        case Call(target=Reshard(), args=(Call(target=MatMul()) as product,)):
            return not is_local(product)
    return False


def _accumulate(ctx: Lowering, call: Call, addend: Expr, product: Expr) -> Value:
    """x + a @ b: the product is accumulated onto a copy of x, which the registers of x become."""
    dst = ctx.result(call, "acc")
    assert isinstance(product, Call)
    if product.type != call.type:
        dst_operand = operand(ctx, call, product, dst)
        ctx.emit(tir.Binary(BinaryKind.ADD), operand(ctx, call, addend, dst), dst_operand, dst)
        return dst
    factors = ctx.lower(product.args[0])  # type: ignore[arg-type]  # a MatMul call, see _placed_product
    ctx.emit(tir.Copy(), operand(ctx, call, addend, dst), dst)
    if isinstance(factors, Product):  # else it sums over nothing
        add_matrix_product(ctx, factors.lhs, factors.rhs, dst)
    return dst


def _accumulate_instruction(ctx: Lowering, call: Call, addend: Expr, product: Expr) -> Value:
    """x + a @ b by one instruction, likewise."""
    dst = ctx.result(call, "acc")
    assert isinstance(product, Call)
    ctx.emit(tir.Copy(), operand(ctx, call, addend, dst), dst)
    add_product(ctx, product, dst)
    return dst


def _index(value: int) -> Expr:
    return Constant(value, INDEX_TYPE)
