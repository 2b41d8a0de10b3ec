"""Rank-0 expressions as C++ text."""

from __future__ import annotations

from collections.abc import Mapping

from tilefoundry.codegen.dim_text import dim_text
from tilefoundry.codegen.op_tags import BINARY, UNARY
from tilefoundry.codegen.types import dtype_text
from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.dims import is_dim_expr
from tilefoundry.ir.hir import Binary, Cast, Unary, Where
from tilefoundry.ir.types import DType, TensorType


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
            return f"convert<{dtype_text(to)}>({scalar_text(x, names)})"
        case Call(target=Binary(kind), args=(lhs, rhs)):
            common = next(
                (_dtype(x) for x in (lhs, rhs) if isinstance(x, Expr) and not isinstance(x, Constant)), DType.i64
            )
            return _op_text(BINARY[kind], (lhs, rhs), common, _dtype(operand), names)
        case Call(target=Unary(kind), args=(x,)):
            return _op_text(UNARY[kind], (x,), _dtype(operand), _dtype(operand), names)
        case Call(target=Where(), args=(condition, then, otherwise)):
            own = _dtype(operand)
            choices = f"{scalar_text(then, names, own)} : {scalar_text(otherwise, names, own)}"
            return f"({scalar_text(condition, names, DType.bool)} ? {choices})"
    if operand in names:
        return names[operand]
    if is_dim_expr(operand):
        return dim_text(operand, names, "tilefoundry::")
    what = type(operand.target).__name__ if isinstance(operand, Call) else type(operand).__name__
    raise CompileError(f"a scalar {what} cannot be compiled", span=span_of(operand.metadata))


def _op_text(tag: str, args: tuple[Expr | int, ...], common: DType, result: DType, names: Mapping[Expr, str]) -> str:
    """An op on scalars of type ``common``; narrow floats are computed in f32 and rounded once, as elements are."""
    compute = DType.f32 if common.is_float and common.bits < 32 else common
    operands = (scalar_text(arg, names, common) for arg in args)
    text = f"op::{tag}{{}}({', '.join(f'convert<{dtype_text(compute)}>({operand})' for operand in operands)})"
    return f"convert<{dtype_text(result)}>({text})" if result.is_float and result is not compute else text


def string_text(message: str) -> str:
    """A string as a constant: ASCII as it is, every other byte in octal, which ends after three digits."""
    shown = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in message.encode())
    return '"' + "".join(shown) + '"'


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
    if dtype is DType.f32:
        return single
    # CUTLASS's own conversions to formats of eight bits are not torch's
    return f"convert<{dtype_text(dtype)}>({single})" if dtype.bits == 8 else f"{dtype_text(dtype)}({single})"


def _dtype(expr: Expr) -> DType:
    assert isinstance(expr.type, TensorType)
    return expr.type.dtype
