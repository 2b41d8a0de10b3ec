"""Does a value of one type serve where another is declared?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.pattern import AndPat, Pattern, ScalarPat, TensorPat
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.evaluate import dim_vars, substitute_dim
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.dims.solve import dim_range, solve_dim
from tilefoundry.ir.types.tensor import TensorType

Bindings = dict[Expr, Dim]  # of DimVars


def bind_type(formal: Type, actual: Type, bindings: Bindings | None) -> bool:
    """Whether a value of type `actual` serves where `formal` is declared.

    A formal without layout accepts any layout and storage; one with a layout must be met exactly. With `bindings`, the
    formal's DimVars take the actual's extents, consistently, and within their envelopes where these are ints. An
    extent ``a*v + b`` gives the DimVar v its value, too.
    """
    if bindings is not None:
        _bind_extents([(formal, actual)], bindings)
    return _fits(formal, actual, bindings)


def bind_parameters(callee: str, params: Sequence[tuple[str, Type]], types: Sequence[Type]) -> Bindings:
    """What the arguments of a call make of the DimVars of its parameters.

    Args:
        callee: names the callee in errors.
        params: name and declared type of each parameter.
        types: of the arguments.

    Raises:
        VerifyError: an argument does not fit its parameter, or is not known to stay inside of an envelope.
    """
    bindings: Bindings = {}
    _bind_extents([(formal, actual) for (_, formal), actual in zip(params, types, strict=True)], bindings)
    for (name, formal), actual in zip(params, types, strict=True):
        if not _fits(formal, actual, bindings):
            raise VerifyError(
                f"{callee}: parameter '{name}' is {formal}, the argument is {actual} (type mismatch)",
                remedy="pass a tensor of the declared shape, dtype and layout",
            )
    for var, extent in bindings.items():
        assert isinstance(var, DimVar)
        reach = dim_range(extent)
        if isinstance(extent, Expr) and (reach is None or not var.lo <= reach[0] <= reach[1] < var.hi):
            where = "of unknown range" if reach is None else f"in [{reach[0]}, {reach[1] + 1})"
            raise VerifyError(
                f"{callee}: extent {format_dim(extent)} {where} does not fit {var.name} in [{var.lo}, {var.hi})",
                remedy="widen the callee's DimVar, or narrow the caller's",
            )
    return bindings


def _bind_extents(pairs: Sequence[tuple[Type, Type]], bindings: Bindings) -> None:
    """Gives each DimVar that an axis holds alone that axis' extent, then those in ``a*v + b`` what solves it."""
    axes = [axis for formal, actual in pairs for axis in _axes(formal, actual)]
    for dim, extent in axes:
        if isinstance(dim, DimVar):
            bindings.setdefault(dim, extent)
    for dim, extent in axes:
        solved = None if isinstance(dim, (int, DimVar)) else solve_dim(dim, extent)
        if solved is not None:
            bindings.setdefault(*solved)


def _axes(formal: Type, actual: Type) -> Iterator[tuple[Dim, Dim]]:
    if isinstance(formal, TupleType) and isinstance(actual, TupleType):
        for f, a in zip(formal.fields, actual.fields, strict=False):
            yield from _axes(f, a)
    elif isinstance(formal, TensorType) and isinstance(actual, TensorType):
        yield from zip(formal.shape, actual.shape, strict=False)


def _fits(formal: Type, actual: Type, bindings: Bindings | None) -> bool:
    if isinstance(formal, TupleType) and isinstance(actual, TupleType):
        return len(formal.fields) == len(actual.fields) and all(
            _fits(f, a, bindings) for f, a in zip(formal.fields, actual.fields, strict=True)
        )
    if not (isinstance(formal, TensorType) and isinstance(actual, TensorType)):
        return formal == actual
    if formal.dtype != actual.dtype or formal.rank != actual.rank:
        return False
    if not all(_extent_fits(f, a, bindings) for f, a in zip(formal.shape, actual.shape, strict=True)):
        return False
    return formal.layout is None or (formal.layout == actual.layout and formal.storage == actual.storage)


def _extent_fits(formal: Dim, actual: Dim, bindings: Bindings | None) -> bool:
    if not bindings or isinstance(formal, int):
        return dim_equal(formal, actual)
    inside = all(v.lo <= e < v.hi for v in dim_vars(formal) if isinstance(e := bindings.get(v), int))
    return inside and dim_equal(substitute_dim(formal, bindings), actual)


def instantiate_type(type_: Type, bindings: Bindings) -> Type:
    """A declared type under the extents that a call gives to its DimVars."""
    if isinstance(type_, TupleType):
        return TupleType(tuple(instantiate_type(f, bindings) for f in type_.fields))
    if not isinstance(type_, TensorType) or not bindings:
        return type_
    shape = tuple(substitute_dim(d, bindings) for d in type_.shape)
    if shape != type_.shape and type_.layout is not None:
        raise VerifyError(
            f"the layout of {type_} cannot be carried to the shape {shape}", remedy="declare the type without layout"
        )
    return TensorType(shape, type_.dtype, type_.layout, type_.storage)


def matches(pattern: Pattern, type_: Type) -> bool:
    """Whether a type matches an operand pattern."""
    match pattern:
        case ScalarPat():
            return isinstance(type_, TensorType) and not type_.shape
        case TensorPat(rank, dtype):
            return (
                isinstance(type_, TensorType)
                and (rank is None or type_.rank == rank)
                and (dtype is None or type_.dtype.name == dtype)
            )
        case AndPat(patterns):
            return all(matches(p, type_) for p in patterns)
    return False
