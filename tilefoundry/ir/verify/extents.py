"""Every symbolic extent of a signature has one envelope, and the arguments of a call tell its value."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.dims import dim_vars, linear_in
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.types import tensor_leaves


def verify_extents(fn: Function) -> None:
    """Refuses a signature with a DimVar that no axis of a parameter determines: alone, or as ``a*v + b``.

    Raises:
        VerifyError: at the parameter, naming the extent and the DimVar.
    """
    axes = [d for p in fn.params for leaf in tensor_leaves(p.type) for d in leaf.shape]
    known = {found[0] for d in axes if (found := linear_in(d)) is not None}
    types = [(f"parameter '{p.name}'", p.type, span_of(p.metadata) or fn.span) for p in fn.params]
    for what, type_, span in (*types, ("result", fn.return_type, fn.span)):
        for dim in (d for leaf in tensor_leaves(type_) for d in leaf.shape):
            loose = sorted(v.name for v in dim_vars(dim) - known)
            if loose:
                raise VerifyError(
                    f"function '{fn.name}': extent {format_dim(dim)} of the {what} needs {', '.join(loose)}, which no "
                    "axis of a parameter tells",
                    span=span,
                    remedy=f"declare a parameter with {loose[0]} on an axis, alone or as {loose[0]} * 2 + 1",
                )
