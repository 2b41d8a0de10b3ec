"""Arithmetic on dims: each function returns the normal form of its result."""

from __future__ import annotations

from collections.abc import Iterable

from tilefoundry.ir.dims.normal_form import normalize_dim
from tilefoundry.ir.dims.ops import Dim, DimAdd, DimFloorDiv, DimMax, DimMin, DimMod, DimMul, DimSub, simplify_dim


def dim_add(a: Dim, b: Dim) -> Dim:
    """``a + b`` in normal form."""
    return normalize_dim(simplify_dim(DimAdd(), (a, b)))


def dim_sub(a: Dim, b: Dim) -> Dim:
    """``a - b`` in normal form."""
    return normalize_dim(simplify_dim(DimSub(), (a, b)))


def dim_mul(a: Dim, b: Dim) -> Dim:
    """``a * b`` in normal form."""
    return normalize_dim(simplify_dim(DimMul(), (a, b)))


def dim_floordiv(a: Dim, b: Dim) -> Dim:
    """``a // b`` in normal form."""
    return normalize_dim(simplify_dim(DimFloorDiv(), (a, b)))


def dim_mod(a: Dim, b: Dim) -> Dim:
    """``a % b`` in normal form."""
    return normalize_dim(simplify_dim(DimMod(), (a, b)))


def dim_min(a: Dim, b: Dim) -> Dim:
    """The lesser, in normal form."""
    return normalize_dim(simplify_dim(DimMin(), (a, b)))


def dim_max(a: Dim, b: Dim) -> Dim:
    """The greater, in normal form."""
    return normalize_dim(simplify_dim(DimMax(), (a, b)))


def ceildiv(a: Dim, b: Dim) -> Dim:
    """``(a + b - 1) // b`` in normal form: the number of pieces of size `b` that cover `a`."""
    return dim_floordiv(dim_sub(dim_add(a, b), 1), b)


def dim_product(dims: Iterable[Dim]) -> Dim:
    """The product of several dims in normal form; 1 of none."""
    result: Dim = 1
    for dim in dims:
        result = dim_mul(result, dim)
    return result
