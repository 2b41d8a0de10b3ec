"""Rank-0 expressions as C++ text."""

from __future__ import annotations

from collections.abc import Mapping

from tilefoundry.codegen.dim_text import dim_text
from tilefoundry.codegen.types import dtype_text
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import is_dim_expr
from tilefoundry.ir.hir import Binary, BinaryKind, Cast
from tilefoundry.ir.types import DType, TensorType

_COMPARE = {
    BinaryKind.EQ: "==",
    BinaryKind.NE: "!=",
    BinaryKind.LT: "<",
    BinaryKind.LE: "<=",
    BinaryKind.GT: ">",
    BinaryKind.GE: ">=",
}


def scalar_text(operand: Expr | int, names: Mapping[Expr, str], dtype: DType | None = None) -> str:
    """A scalar of type ``dtype`` (None: its own).

    A literal is rounded once, from double, as PyTorch rounds a Python number.
    """
    match operand:
        case int():
            return literal_text(operand, dtype or DType.i64)
        case Constant(value):
            return literal_text(value, dtype or _dtype(operand))
        case Call(target=Cast(to), args=(x,)):
            return f"static_cast<{dtype_text(to)}>({scalar_text(x, names)})"
        case Call(target=Binary(kind), args=(lhs, rhs)) if kind in _COMPARE:
            return f"({scalar_text(lhs, names)} {_COMPARE[kind]} {scalar_text(rhs, names)})"
    if operand in names:
        return names[operand]
    if is_dim_expr(operand):
        return dim_text(operand, names, "tilefoundry::")
    raise CompileError(f"cannot compile the scalar {operand}")


def literal_text(value: float | int | bool, dtype: DType) -> str:
    """A number as a constant of an element type."""
    if dtype is DType.bool:
        return "true" if value else "false"
    if not dtype.is_float:
        return f"{dtype_text(dtype)}{{{int(value)}}}"
    number = float(value)
    if number != number:
        text = "std::numeric_limits<double>::quiet_NaN()"
    elif number in (float("inf"), float("-inf")):
        text = f"{'-' if number < 0 else ''}std::numeric_limits<double>::infinity()"
    else:
        text = repr(number)
    if dtype is DType.f64:
        return text
    single = f"static_cast<float>({text})"
    return single if dtype is DType.f32 else f"{dtype_text(dtype)}({single})"


def _dtype(expr: Expr) -> DType:
    assert isinstance(expr.type, TensorType)
    return expr.type.dtype
