"""Specialisation: a function for given extents, or for narrower envelopes, of its DimVars."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from tilefoundry.diagnostics import SpecializationError
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.origin import SpecializationMetadata
from tilefoundry.ir.dims import DimVar, dim_vars, is_dim_expr
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.rewrite import Rewriter, substitute
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.variants import Bound, check_names, variant_for


def residual_dims(fn: Function) -> tuple[DimVar, ...]:
    """The DimVars that the parameters still leave open, by name."""
    return _sorted(_dims_in(tuple(param.type for param in fn.params)))


def dim_vars_reached(fn: Function) -> tuple[DimVar, ...]:
    """Every DimVar in the signature, the body, the variants and the converters, by name."""
    found = _dims_in((tuple(param.type for param in fn.params), fn.return_type))
    for expr in post_order(fn.body) if fn.body is not None else ():
        found |= _dims_in(expr.type)
        if isinstance(expr, DimVar):
            found.add(expr)
        elif isinstance(expr, GridRegionExpr):
            found |= _dims_in((expr.start, expr.extent, expr.step, expr.spread))
        elif dataclasses.is_dataclass(expr):
            found |= _dims_in(getattr(expr, "target", None))
    for part in (*fn.variants, *(converter for _, converter in fn.converters)):
        found.update(dim_vars_reached(part))
    return _sorted(found)


def is_concrete(fn: Function) -> bool:
    """Whether `fn` has a body and no extent is open."""
    return fn.body is not None and not dim_vars_reached(fn)


def specialize_function(fn: Function, dims: Mapping[str, Bound]) -> Function:
    """`fn` for these extents of its parameters' DimVars; of a prototype, the variant that serves them.

    Args:
        dims: extents by the DimVar's name; a DimVar as extent narrows the envelope and leaves the extent open.

    Returns:
        A function of the same name. `origin_of` and `bound_dims_of` tell where it comes from.

    Raises:
        SpecializationError: `fn` has no such DimVar, an extent lies outside of its envelope, or an envelope spans the
            ranges of several variants.
        VerifyError: the body is not well typed under these extents.
    """
    check_names(fn, dims)
    open_dims = {dim.name: dim for dim in residual_dims(fn)}
    for name, extent in dims.items():
        _check(fn, open_dims, name, extent)
    if not dims:
        return fn
    chosen = fn
    if fn.variants and fn.variants[0].specializations[0].dim_var in dims:
        variant = variant_for(fn, dims)
        metadata = tuple(m for m in fn.metadata if not isinstance(m, (SpecializationMetadata, BindingMetadata)))
        chosen = dataclasses.replace(variant, specializations=(), converters=fn.converters, metadata=metadata)
    result = _rewritten(chosen, {open_dims[name]: extent for name, extent in dims.items()})
    kept = tuple(m for m in result.metadata if not isinstance(m, SpecializationMetadata))
    record = SpecializationMetadata(fn, tuple(sorted(dims.items(), key=lambda item: item[0])))
    return dataclasses.replace(result, metadata=(*kept, record))


def specialize_concretely(fn: Function, dims: Mapping[str, int]) -> Function:
    """`fn` with every extent known.

    Raises:
        SpecializationError: as `specialize_function`, or DimVars stay open.
    """
    result = specialize_function(fn, dims)
    left = dim_vars_reached(result)
    if left:
        raise SpecializationError(
            f"'{fn.name}': the extents of {', '.join(d.name for d in left)} are not given",
            remedy="give the extent of every DimVar",
        )
    return result


def specialize_module(module: Module, dims: Mapping[str, Bound]) -> Module:
    """`module` with its entry for these extents (see `specialize_function`): what to compile of a prototype.

    Raises:
        SpecializationError, VerifyError: as `specialize_function`; the entry is a kernel in TIR.
        WrongValueError: there is no entry.
    """
    entry = module.entry_function()
    if not isinstance(entry, Function):
        raise SpecializationError(
            f"the entry '{entry.name}' of module '{module.name}' is a kernel in TIR",
            remedy="specialise the program in HIR",
        )
    special = specialize_function(entry, dims)
    return dataclasses.replace(module, functions=tuple(special if f is entry else f for f in module.functions))


def _check(fn: Function, open_dims: Mapping[str, DimVar], name: str, extent: Bound) -> None:
    if name not in open_dims:
        raise SpecializationError(
            f"'{fn.name}' has no parameter with the DimVar '{name}'",
            remedy=f"its DimVars: {', '.join(open_dims) or 'none'}",
        )
    if isinstance(extent, bool) or not isinstance(extent, (int, DimVar)):
        raise SpecializationError(
            f"'{fn.name}': '{name}' takes an int or a narrower DimVar, got {extent!r}",
            remedy='write {"S": 128}, or {"S": DimVar("S", 1, 64)}',
        )
    dim = open_dims[name]
    lo, hi = (extent.lo, extent.hi) if isinstance(extent, DimVar) else (extent, extent + 1)
    if not dim.lo <= lo < hi <= dim.hi:
        given = f"[{lo}, {hi})" if isinstance(extent, DimVar) else str(extent)
        raise SpecializationError(
            f"'{fn.name}': '{name}' = {given} lies outside its envelope [{dim.lo}, {dim.hi})",
            remedy="stay inside of the envelope",
        )


def _rewritten(fn: Function, extents: Mapping[Expr, Bound]) -> Function:
    params = tuple(Var(p.name, substitute(p.type, extents), p.is_const, p.metadata) for p in fn.params)
    body = None
    if fn.body is not None:
        body = Rewriter(dict(zip(fn.params, params, strict=True)), extents).expr(fn.body)
    return dataclasses.replace(
        fn,
        params=params,
        body=body,
        return_type=substitute(fn.return_type, extents),
        variants=tuple(_rewritten(variant, extents) for variant in fn.variants),
        converters=tuple((weight, _rewritten(converter, extents)) for weight, converter in fn.converters),
    )


def _sorted(found: Iterable[DimVar]) -> tuple[DimVar, ...]:
    return tuple(sorted(set(found), key=lambda dim: (dim.name, dim.lo, dim.hi)))


def _dims_in(value: object) -> set[DimVar]:
    """The DimVars in a type, a layout, a mesh, an op's attributes, or a tuple of them."""
    if isinstance(value, Expr):
        return set(dim_vars(value)) if is_dim_expr(value) else set()
    if isinstance(value, tuple):
        return set().union(*(_dims_in(v) for v in value))
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Function)):
        return set().union(*(_dims_in(getattr(value, f.name)) for f in dataclasses.fields(value)))
    return set()
