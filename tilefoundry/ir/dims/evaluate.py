"""Evaluating, searching and rewriting dims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilefoundry.diagnostics import DimSubstitutionError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, DimOp


def is_dim_expr(value: object) -> bool:
    """Whether `value` is a DimVar or a call of a dim op."""
    return isinstance(value, DimVar) or (isinstance(value, Call) and isinstance(value.target, DimOp))


def evaluate_dim(dim: Dim, bindings: Mapping[str, int], variables: Mapping[Expr, int] | None = None) -> int:
    """The value of a dim.

    Args:
        bindings: values of DimVars, by name.
        variables: values of other atoms, such as loop variables.

    Raises:
        DimSubstitutionError: a DimVar or another atom has no value, or the dim divides by zero.
    """
    match dim:
        case int():
            return dim
        case Constant(value) if isinstance(value, int):
            return value
        case DimVar() if dim.name in bindings:
            return bindings[dim.name]
        case Call(target, args) if isinstance(target, DimOp):
            return target.fold(*(evaluate_dim(a, bindings, variables) for a in args))
    if variables is not None and dim in variables:
        return variables[dim]
    name = dim.name if isinstance(dim, (DimVar, Var)) else str(dim)
    raise DimSubstitutionError(
        f"extent '{name}' has no value; known: {', '.join(sorted(bindings)) or 'none'}",
        remedy="bind it, e.g. with --dim NAME=EXTENT",
    )


def dim_atoms(dim: Dim) -> frozenset[Expr]:
    """The DimVars, Vars and other expressions that a dim is made of."""
    if isinstance(dim, (int, Constant)):
        return frozenset()
    if isinstance(dim, Call) and isinstance(dim.target, DimOp):
        return frozenset().union(*(dim_atoms(a) for a in dim.args))
    return frozenset((dim,))


def dim_vars(dim: Dim) -> frozenset[DimVar]:
    """The DimVars that a dim mentions."""
    return frozenset(a for a in dim_atoms(dim) if isinstance(a, DimVar))


def substitute_dim(dim: Dim, values: Mapping[Any, Dim]) -> Dim:
    """`dim` with atoms replaced, in normal form."""
    return normalize_dim(_substitute(dim, values))


def _substitute(dim: Dim, values: Mapping[Any, Dim]) -> Dim:
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Call) and isinstance(dim.target, DimOp):
        return Call(dim.target, tuple(_substitute(a, values) for a in dim.args))
    return values.get(dim, dim)
