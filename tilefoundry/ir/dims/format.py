"""Dims as text, for messages and for printing."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims.ops import (
    Dim,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimSub,
)

_INFIX: dict[type, tuple[str, int]] = {
    DimAdd: ("+", 1),
    DimSub: ("-", 1),
    DimMul: ("*", 2),
    DimFloorDiv: ("//", 2),
    DimMod: ("%", 2),
}
_CALL: dict[type, int] = {DimMin: 0, DimMax: 1}


def _atom_name(atom: Expr) -> str:
    return atom.name if isinstance(atom, Var) else str(atom)


def format_dim(dim: Dim, atom: Callable[[Expr], str] = _atom_name, extrema: tuple[str, str] = ("min", "max")) -> str:
    """A dim as Python text.

    Args:
        atom: names what is not arithmetic; by default Vars and DimVars by their names.
        extrema: the names of the functions that give the least and the greatest.
    """
    return _format(dim, atom, extrema)[0]


def _format(dim: Dim, atom: Callable[[Expr], str], extrema: tuple[str, str]) -> tuple[str, int]:
    if isinstance(dim, int):
        return str(dim), 3 if dim >= 0 else 0
    if isinstance(dim, Constant):
        return str(dim.value), 3
    if isinstance(dim, Call):
        kind = type(dim.target)
        if isinstance(dim.target, DimConst):
            return str(dim.target.value), 3
        if kind in _INFIX:
            symbol, level = _INFIX[kind]
            (left, left_level), (right, right_level) = (_format(a, atom, extrema) for a in dim.args)
            left = f"({left})" if left_level < level else left
            right = f"({right})" if right_level <= level else right
            return f"{left} {symbol} {right}", level
        if kind in _CALL:
            return f"{extrema[_CALL[kind]]}({', '.join(_format(a, atom, extrema)[0] for a in dim.args)})", 3
    return atom(dim), 3
