"""Variants: a prototype's bodies, each for a range of one DimVar."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NoReturn

from tilefoundry.diagnostics import SpecializationError, VerifyError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.dims import DimVar, dim_vars
from tilefoundry.ir.types import TensorType, tensor_leaves

Bound = int | DimVar  # an extent, or every extent of an envelope


def check_variants(fn: Function) -> None:
    """Checks that the variants of a prototype serve each extent of one DimVar exactly once.

    Raises:
        VerifyError: a prototype has no variants, a function with a body has some, a variant has another signature or
            serves extents that the DimVar cannot have, or the ranges do not partition the envelope.
    """
    if not fn.variants:
        if fn.body is None:
            raise VerifyError(f"'{fn.name}' is a prototype without variants", span=fn.span, remedy="give it a body")
        return
    if fn.body is not None:
        raise VerifyError(f"'{fn.name}' has variants and a body of its own", span=fn.span, remedy="remove its body")
    patterns = [_pattern(fn, variant) for variant in fn.variants]
    for variant in fn.variants:
        _check_signature(fn, variant)
    dim = _dispatch_dim(fn, patterns)
    ordered = sorted(zip(patterns, fn.variants, strict=True), key=lambda v: (v[0].lo, v[0].hi))
    for pattern, variant in ordered:
        if not dim.lo <= pattern.lo < pattern.hi <= dim.hi:
            _refuse(
                fn,
                variant,
                f"[{pattern.lo}, {pattern.hi}) of '{dim.name}' is not contained in its envelope [{dim.lo}, {dim.hi})",
            )
    for (before, _), (pattern, variant) in itertools.pairwise(ordered):
        if pattern.lo != before.hi:
            _refuse(fn, variant, f"the ranges of '{dim.name}' have a gap or overlap at {min(before.hi, pattern.lo)}")
    first, last = ordered[0][0].lo, ordered[-1][0].hi
    if (first, last) != (dim.lo, dim.hi):
        _refuse(fn, fn, f"its variants cover [{first},{last}) but the envelope is [{dim.lo},{dim.hi})")


def variant_for(fn: Function, dims: Mapping[str, Bound]) -> Function:
    """The variant that serves these extents; `fn` itself when it has none.

    Args:
        dims: extents by the DimVar's name. A DimVar stands for all of its envelope, which must lie in one range.

    Raises:
        SpecializationError: the extent of the DimVar that the variants divide is not given, or no variant serves it.
    """
    if not fn.variants:
        return fn
    check_names(fn, dims)
    patterns = [_pattern(fn, variant) for variant in fn.variants]
    name = patterns[0].dim_var
    if name not in dims:
        raise SpecializationError(
            f"'{fn.name}' has variants by '{name}', whose extent is not given",
            remedy=f"give it; known: {', '.join(dims) or 'none'}",
        )
    lo, hi = _range(dims[name])
    for pattern, variant in zip(patterns, fn.variants, strict=True):
        if pattern.lo <= lo and hi <= pattern.hi:
            return variant
    ranges = ", ".join(f"[{p.lo}, {p.hi})" for p in patterns)
    given = f"= {lo}" if hi == lo + 1 else f"in [{lo}, {hi})"
    raise SpecializationError(
        f"'{fn.name}': no variant serves '{name}' {given}", remedy=f"keep to one of the ranges {ranges}"
    )


def check_names(fn: Function, dims: Mapping[str, Bound]) -> None:
    """Refuses extents that are given by something else than a name.

    Raises:
        SpecializationError: says which.
    """
    for name in dims:
        if not isinstance(name, str):
            raise SpecializationError(
                f"'{fn.name}': extents are given by the name of their DimVar, got the key {name!r}",
                remedy='write {"S": 128}',
            )


def _range(bound: Bound) -> tuple[int, int]:
    return (bound.lo, bound.hi) if isinstance(bound, DimVar) else (bound, bound + 1)


def _refuse(fn: Function, at: Function, message: str) -> NoReturn:
    raise VerifyError(
        f"'{fn.name}': {message}",
        span=at.span or fn.span,
        remedy="the variants' ranges must cover every extent of the envelope, each once",
    )


def _pattern(fn: Function, variant: Function) -> DimVarRangePat:
    if len(variant.specializations) != 1 or variant.body is None or variant.variants:
        raise VerifyError(
            f"a variant of '{fn.name}' has {len(variant.specializations)} pattern(s) and "
            f"{'no' if variant.body is None else 'a'} body",
            span=variant.span,
            remedy="a variant has exactly one DimVarRangePat and a body",
        )
    return variant.specializations[0]


def _check_signature(fn: Function, variant: Function) -> None:
    declared, given = _signature(fn), _signature(variant)
    own = {dim.name: dim for dim in _signature_dims(fn)}
    for dim in _signature_dims(variant):
        known = own.get(dim.name, dim)
        if known is not dim:
            raise VerifyError(
                f"'{fn.name}': inconsistent bounds of '{dim.name}': [{known.lo}, {known.hi}) in the prototype, "
                f"[{dim.lo}, {dim.hi}) in a variant",
                span=variant.span,
                remedy="use the same DimVar object in both",
            )
    if variant.name != fn.name or declared != given:
        raise VerifyError(
            f"a variant of '{fn.name}' has the signature {_written(given)}, the prototype {_written(declared)}",
            span=variant.span,
            remedy="give it the prototype's parameters, in name and type, and its return type",
        )


def _signature(fn: Function) -> tuple[tuple[tuple[str, Type, bool], ...], Type]:
    return tuple((p.name, p.type, p.is_const) for p in fn.params), fn.return_type


def _written(signature: tuple[tuple[tuple[str, Type, bool], ...], Type]) -> str:
    params = ", ".join(f"{name}: {'const ' if is_const else ''}{type_}" for name, type_, is_const in signature[0])
    return f"({params}) -> {signature[1]}"


def _signature_dims(fn: Function) -> list[DimVar]:
    leaves = tensor_leaves(TupleType((*(p.type for p in fn.params), fn.return_type)))
    return [v for leaf in leaves for d in leaf.shape for v in sorted(dim_vars(d), key=lambda v: v.name)]


def _dispatch_dim(fn: Function, patterns: list[DimVarRangePat]) -> DimVar:
    """The DimVar that the variants divide: an axis of a parameter, so that a call's arguments tell its extent."""
    names = sorted({p.dim_var for p in patterns})
    if len(names) > 1:
        _refuse(fn, fn, f"its variants divide several DimVars: {', '.join(names)}; expected one")
    axes = [
        d for p in fn.params if isinstance(p.type, TensorType) for d in p.type.shape if isinstance(d, DimVar)
    ]  # fmt: skip
    for dim in axes:
        if dim.name == names[0]:
            return dim
    known = ", ".join(sorted({d.name for d in axes})) or "there is none"
    raise VerifyError(
        f"'{fn.name}': unknown DimVar '{names[0]}'",
        span=fn.variants[0].span or fn.span,
        remedy=f"name one that is an axis of a parameter: {known}",
    )
