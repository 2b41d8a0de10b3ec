"""Binary: both operands in registers, or one of them a scalar."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import INDEX_TYPE, dim_add
from tilefoundry.ir.hir import Binary, BinaryKind, MatMul, Reshard
from tilefoundry.passes.lower.context import Lowering, is_scalar
from tilefoundry.passes.lower.elementwise.operands import operand
from tilefoundry.passes.lower.matrix.instruction import add_product, is_instruction
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.shard.reshard import add_matrix_product
from tilefoundry.passes.lower.values import Product, Ramp, Value


@lowers(Binary)
def lower_binary(ctx: Lowering, call: Call) -> Value:
    lhs, rhs = (arg if isinstance(arg, Expr) else _index(arg) for arg in call.args)
    assert isinstance(call.target, Binary)
    kind = call.target.kind
    if is_scalar(call):
        return Call(call.target, (ctx.scalar(lhs), ctx.scalar(rhs)), call.type, call.metadata)
    if kind is BinaryKind.ADD:
        for value, other in ((lhs, rhs), (rhs, lhs)):
            if is_scalar(other) and isinstance(ramp := ctx.lower(value), Ramp):
                return Ramp(ramp.axis, dim_add(ramp.start, ctx.scalar(other)), ramp.step)
            if _placed_product(other) and not is_scalar(value):
                return _accumulate(ctx, call, value, other)
            if is_instruction(other) and not is_scalar(value):
                return _accumulate_instruction(ctx, call, value, other)
    dst = ctx.result(call, kind.name.lower())
    ctx.emit(tir.Binary(kind), operand(ctx, call, lhs, dst), operand(ctx, call, rhs, dst), dst)
    return dst


def _placed_product(expr: Expr) -> bool:
    """Whether ``expr`` is a matrix product that goes straight to registers."""
    match expr:
        case Call(target=Reshard(), args=(Call(target=MatMul()),)):
            return True
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
