"""Extents and indices: ints, DimVars, and integer expressions over them in one sound normal form."""

from tilefoundry.ir.dims.arith import (
    ceildiv,
    dim_add,
    dim_floordiv,
    dim_max,
    dim_min,
    dim_mod,
    dim_mul,
    dim_product,
    dim_sub,
)
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.dims.evaluate import dim_atoms, dim_vars, evaluate_dim, is_dim_expr, substitute_dim
from tilefoundry.ir.dims.normal_form import dim_equal, normalize_dim, unequal
from tilefoundry.ir.dims.ops import (
    Dim,
    DimAdd,
    DimConst,
    DimFloorDiv,
    DimMax,
    DimMin,
    DimMod,
    DimMul,
    DimOp,
    DimSub,
    simplify_dim,
)
from tilefoundry.ir.dims.solve import dim_range, linear_in, solve_dim
from tilefoundry.ir.types.tensor import INDEX_TYPE

__all__ = [
    "INDEX_TYPE",
    "Dim",
    "DimAdd",
    "DimConst",
    "DimFloorDiv",
    "DimMax",
    "DimMin",
    "DimMod",
    "DimMul",
    "DimOp",
    "DimSub",
    "DimVar",
    "ceildiv",
    "dim_add",
    "dim_atoms",
    "dim_equal",
    "dim_floordiv",
    "dim_max",
    "dim_min",
    "dim_mod",
    "dim_mul",
    "dim_product",
    "dim_range",
    "dim_sub",
    "dim_vars",
    "evaluate_dim",
    "is_dim_expr",
    "linear_in",
    "normalize_dim",
    "simplify_dim",
    "solve_dim",
    "substitute_dim",
    "unequal",
]
