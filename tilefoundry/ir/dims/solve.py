"""From the extent of an axis back to the DimVar in it, and how far a dim can reach."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod, dim_sub
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.normal_form import normalize_dim, poly_of
from tilefoundry.ir.dims.ops import Dim, DimAdd, DimFloorDiv, DimMax, DimMin, DimMod, DimMul, DimSub


def linear_in(dim: Dim) -> tuple[DimVar, int, int] | None:
    """(v, a, b) with ``dim == a*v + b`` and a != 0; None when the dim is not of this form."""
    poly = poly_of(dim)
    terms = [(monomial, coefficient) for monomial, coefficient in poly.items() if monomial]
    if len(terms) != 1:
        return None
    ((monomial, coefficient),) = terms
    if len(monomial) != 1 or not isinstance(monomial[0], DimVar):
        return None
    return monomial[0], coefficient, poly.get((), 0)


def solve_dim(dim: Dim, extent: Dim) -> tuple[DimVar, Dim] | None:
    """The one DimVar v of ``dim == a*v + b``, and what it must be for the dim to be `extent`.

    Returns:
        None when the dim is not of this form, or `a` is not known to divide ``extent - b``.
    """
    found = linear_in(dim)
    if found is None:
        return None
    var, scale, offset = found
    rest = dim_sub(extent, offset)
    return (var, dim_floordiv(rest, scale)) if dim_mod(rest, scale) == 0 else None


def dim_range(dim: Dim) -> tuple[int, int] | None:
    """Bounds (least, greatest) of a dim over the envelopes of its DimVars; not always the tightest ones.

    Normal forms never look at envelopes: two dims are equal or not whatever they are. This is for the other question,
    whether an extent stays inside what a callee declares.

    Returns:
        None when the dim has an atom that is no DimVar, or may divide by zero.
    """
    if isinstance(dim, int):
        return dim, dim
    if isinstance(dim, DimVar):
        return dim.lo, dim.hi - 1
    if not isinstance(dim, Call) or len(dim.args) != 2:
        value = normalize_dim(dim)
        return (value, value) if isinstance(value, int) else None
    left, right = (dim_range(arg) for arg in dim.args)
    if left is None or right is None:
        return None
    match dim.target:
        case DimAdd():
            return left[0] + right[0], left[1] + right[1]
        case DimSub():
            return left[0] - right[1], left[1] - right[0]
        case DimMin():
            return min(left[0], right[0]), min(left[1], right[1])
        case DimMax():
            return max(left[0], right[0]), max(left[1], right[1])
        case DimMul():
            corners = [x * y for x in left for y in right]
        case DimFloorDiv() if not right[0] <= 0 <= right[1]:
            corners = [x // y for x in left for y in right]
        case DimMod() if right[0] > 0:
            return left if left[0] >= 0 and left[1] < right[0] else (0, right[1] - 1)
        case _:
            return None
    return min(corners), max(corners)
