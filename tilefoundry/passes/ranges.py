"""A function that calls prototypes becomes one, with a variant for each range of an extent that decides its calls."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tilefoundry.ir.core.expr import Call, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.elaborate import called_prototypes
from tilefoundry.ir.types import TensorType
from tilefoundry.ir.types.matching import bind_parameters


def divided(fn: Function) -> Function:
    """The function in variants, each of which serves extents for which one variant of each prototype serves its calls.

    Itself where no call is open, or where not one extent, which is that of an axis of a parameter, decides them all.

    Args:
        fn: a function of `Elaborator.without_calls`.
    """
    pieces = fn.variants or (fn,)
    axes = {extent for p in fn.params if isinstance(p.type, TensorType) for extent in p.type.shape}
    deciding = {pattern.dim_var for piece in fn.variants for pattern in piece.specializations}
    cuts: dict[str, set[int]] = {name: set() for name in deciding}
    envelopes = {extent.name: extent for extent in axes if isinstance(extent, DimVar)}
    calls = called_prototypes(fn)
    for call in calls:
        name, starts = _decided_by(call)
        if name not in envelopes:
            return fn
        cuts.setdefault(name, set()).update(starts)
    if not calls or len(cuts) != 1:
        return fn
    ((name, starts),) = cuts.items()
    variants: list[Function] = []
    for piece in pieces:
        ranges = [(p.lo, p.hi) for p in piece.specializations] or [(envelopes[name].lo, envelopes[name].hi)]
        ((lo, hi),) = ranges
        for first, end in pairwise(sorted({lo, hi, *(start for start in starts if lo < start < hi)})):
            variants.append(replace(piece, specializations=(DimVarRangePat(name, first, end),)))
    return replace(fn, body=None, variants=tuple(variants))


def _decided_by(call: Call) -> tuple[str | None, set[int]]:
    """The DimVar that decides a call, and where the ranges of its variants start; None where it is no DimVar itself."""
    callee = call.target
    assert isinstance(callee, Function)
    patterns = [pattern for variant in callee.variants for pattern in variant.specializations]
    types = [type_of(arg) for arg in call.args]
    bindings = bind_parameters(f"'{callee.name}'", [(p.name, p.type) for p in callee.params], types)
    extents = [e for v, e in bindings.items() if isinstance(v, DimVar) and v.name == patterns[0].dim_var]
    (extent,) = extents
    return extent.name if isinstance(extent, DimVar) else None, {pattern.lo for pattern in patterns}
