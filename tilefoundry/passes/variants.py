"""A prototype becomes one kernel for each variant, and a host function that picks among them by the extent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.dims import DimVar, substitute_dim
from tilefoundry.ir.specialize import specialize_function
from tilefoundry.ir.types import TensorType
from tilefoundry.target import CpuTarget


def lower_variants(
    prototype: Function, lower_one: Callable[[Function, str], tuple[tir.PrimFunction, ...]]
) -> tuple[tir.PrimFunction, ...]:
    """The host function and what it picks among, in the order of the variants.

    Each kernel is lowered for the extents of its range alone, which may decide what its body calls, and is called after
    the range: what an author calls a variant is no part of the program. The host function has the prototype's name and
    parameters; that it calls a kernel is a launch on the kernel's own meshes.

    Args:
        lower_one: lowers a function with a body to a kernel of a name; or to a host function of that name and the
            kernels that this one launches.

    Raises:
        VerifyError: no axis tells the extent that the variants are about; or as `lower_one`.
    """
    patterns: list[DimVarRangePat] = []
    kernels: list[tir.PrimFunction] = []
    launched: list[tir.PrimFunction] = []
    outputs: tuple[Var, ...] = ()
    for variant in prototype.variants:
        (pattern,) = variant.specializations
        wide = _dim_var(prototype, pattern)
        narrow = DimVar(wide.name, max(pattern.lo, wide.lo), min(pattern.hi, wide.hi))
        special = specialize_function(prototype, {wide.name: narrow})
        kernel, *below = lower_one(special, f"{prototype.name}_{pattern.lo}_{pattern.hi}")
        launched += below
        outputs = outputs or tuple(_widened(out, narrow, wide) for out in kernel.outputs)
        patterns.append(pattern)
        kernels.append(kernel)
    params = (*prototype.params, *outputs)
    subject = _subject(prototype, patterns[0])
    served = ", ".join(f"[{p.lo}, {p.hi})" for p in patterns)
    body = tir.DispatchCall(
        prototype.name,
        (subject,),
        tuple(patterns),
        tuple(tir.Evaluate(tir.SymbolRef(kernel.name), params) for kernel in kernels),
        tir.Abort(f"'{prototype.name}' has variants for '{patterns[0].dim_var}' in {served}"),
        metadata=prototype.metadata,
    )
    host = tir.PrimFunction(prototype.name, params, body, len(outputs), CpuTarget(), metadata=prototype.metadata)
    return host, *kernels, *launched


def _dim_var(prototype: Function, pattern: DimVarRangePat) -> DimVar:
    axis = _subject(prototype, pattern)
    assert isinstance(axis.param.type, TensorType)
    found = axis.param.type.shape[axis.axis]
    assert isinstance(found, DimVar)
    return found


def _subject(prototype: Function, pattern: DimVarRangePat) -> tir.ShapeOf:
    """An axis that is the extent which decides."""
    for param in prototype.params:
        for axis, extent in enumerate(param.type.shape if isinstance(param.type, TensorType) else ()):
            if isinstance(extent, DimVar) and extent.name == pattern.dim_var:
                return tir.ShapeOf(param, axis)
    raise VerifyError(
        f"the variants of '{prototype.name}' are about '{pattern.dim_var}', which is the extent of no axis by itself",
        span=prototype.span,
        remedy="declare a parameter that has it on an axis",
    )


def _widened(out: Var, narrow: DimVar, wide: DimVar) -> Var:
    assert isinstance(out.type, TensorType)
    shape = tuple(substitute_dim(extent, {narrow: wide}) for extent in out.type.shape)
    return Var(out.name, replace(out.type, shape=shape))
