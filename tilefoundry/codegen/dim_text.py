"""Dimension expressions as C++ text."""

from __future__ import annotations

from collections.abc import Mapping

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.dims import (
    Dim,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimOp,
    DimSub,
)

_INFIX: dict[type[DimOp], str] = {DimAdd: "+", DimSub: "-", DimMul: "*"}


def dim_text(dim: Dim, names: Mapping[Expr, str], functions: str = "tilefoundry::host::") -> str:
    """`dim` as an ``int64_t`` expression of C++.

    Args:
        names: what each DimVar or variable is called.
        functions: prefix of ``floor_div`` and ``floor_mod``, which round towards minus infinity.

    Raises:
        CompileError: the expression mentions something without a name.
    """
    match dim:
        case int():
            return f"int64_t{{{dim}}}"
        case Constant(value=int(value)):
            return f"int64_t{{{value}}}"
        case Call(target=DimConst(value)):
            return f"int64_t{{{value}}}"
        case Call(target=DimOp() as op, args=(lhs, rhs)):
            a, b = (dim_text(x, names, functions) for x in (lhs, rhs))
            match op:
                case DimFloorDiv():
                    return f"{functions}floor_div({a}, {b})"
                case DimMod():
                    return f"{functions}floor_mod({a}, {b})"
                case DimMin():
                    return f"std::min<int64_t>({a}, {b})"
                case DimMax():
                    return f"std::max<int64_t>({a}, {b})"
            return f"({a} {_INFIX[type(op)]} {b})"
    if dim in names:
        return names[dim]
    raise CompileError(f"extent '{dim}' is not known when the kernel is launched; known: {sorted(names.values())}")
