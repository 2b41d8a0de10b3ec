"""Effects on rank-0 tensors in registers: assignments to a variable of each instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilefoundry.codegen.scalars import literal_text
from tilefoundry.codegen.types import dtype_text
from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.types import TensorType

if TYPE_CHECKING:
    from tilefoundry.codegen.body import Body


def is_register_scalar(arg: Expr | int) -> bool:
    """Whether an operand is a rank-0 tensor that the kernel has allocated."""
    return isinstance(arg, Expr) and isinstance(arg.type, TensorType) and arg.type.shape == ()


def assignment_text(body: Body, op: tir.EffectOp, args: tuple[Expr, ...]) -> str:
    """The assignment that an elementwise op on scalars is."""
    *sources, dst = args
    type_ = dst.type
    assert isinstance(type_, TensorType)
    if isinstance(op, tir.Fill):
        text = literal_text(op.value, type_.dtype)
    else:
        text = body.scalar(_value(op, sources, type_), type_.dtype)
    return body.assignment(dst, f"convert<{dtype_text(type_.dtype)}>({text})", type(op).__name__.lower())


def _value(op: tir.EffectOp, sources: list[Expr], type_: TensorType) -> Expr:
    def number(value: float | int) -> Constant:
        return Constant(type(value)(value), type_)

    match op, sources:
        case ((tir.Copy() | tir.Cast()), [src]):
            return src
        case tir.Unary(kind), [src]:
            return Call(hir.Unary(kind), (src,), type_)
        case tir.ReLU(), [src]:
            return Call(hir.Unary(hir.UnaryKind.RELU), (src,), type_)
        case tir.Clamp(least, greatest), [src]:
            raised = Call(hir.Binary(hir.BinaryKind.MAX), (src, number(least)), type_)
            return Call(hir.Binary(hir.BinaryKind.MIN), (raised, number(greatest)), type_)
        case tir.Binary(kind), [lhs, rhs]:
            return Call(hir.Binary(kind), (lhs, rhs), type_)
        case tir.Where(), [condition, then, otherwise]:
            return Call(hir.Where(), (condition, then, otherwise), type_)
    raise AssertionError(f"{op} on a scalar was let through")  # passes.compilable lists what has code
