"""Does a value of one type serve where another is declared?"""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.pattern import AndPat, Pattern, ScalarPat, TensorPat
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.evaluate import substitute_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.types.tensor import TensorType

Bindings = dict[Expr, Dim]  # of DimVars


def bind_type(formal: Type, actual: Type, bindings: Bindings | None) -> bool:
    """Whether a value of type `actual` serves where `formal` is declared.

    A formal without layout accepts any layout and storage; one with a layout must be met exactly. With `bindings`, the
    formal's DimVars take the actual's extents, consistently, and within their envelopes where these are ints.
    """
    if isinstance(formal, TupleType) and isinstance(actual, TupleType):
        return len(formal.fields) == len(actual.fields) and all(
            bind_type(f, a, bindings) for f, a in zip(formal.fields, actual.fields, strict=True)
        )
    if not (isinstance(formal, TensorType) and isinstance(actual, TensorType)):
        return formal == actual
    if formal.dtype != actual.dtype or formal.rank != actual.rank:
        return False
    if not all(_bind_extent(f, a, bindings) for f, a in zip(formal.shape, actual.shape, strict=True)):
        return False
    return formal.layout is None or (formal.layout == actual.layout and formal.storage == actual.storage)


def _bind_extent(formal: Dim, actual: Dim, bindings: Bindings | None) -> bool:
    if bindings is None:
        return dim_equal(formal, actual)
    if isinstance(formal, DimVar):
        if isinstance(actual, int) and not formal.lo <= actual < formal.hi:
            return False
        return dim_equal(bindings.setdefault(formal, actual), actual)
    return dim_equal(substitute_dim(formal, bindings), actual)


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
