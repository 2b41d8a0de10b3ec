"""Types, layouts, meshes, ops, functions, Module: pure data and rules, no tensor library.

The printer (`tilefoundry.ir.text`) and TIR (`tilefoundry.ir.tir`) are imported where they are used. `core` comes first:
it fixes the order in which `dims`, `shard` and `types`, which build on each other, come up.
"""

from tilefoundry.ir import pickles as pickles  # makes expressions picklable
from tilefoundry.ir.core import (
    Call,
    Constant,
    DimVarRangePat,
    Expr,
    Function,
    Module,
    Op,
    Tuple,
    Var,
    register_alias,
    register_op,
)
from tilefoundry.ir.core.origin import bound_dims_of, origin_of
from tilefoundry.ir.core.selectors import function_selectors, select
from tilefoundry.ir.dims import DimVar, ceildiv, evaluate_dim, normalize_dim
from tilefoundry.ir.hir import BinaryKind, GridRegionExpr, ReduceKind, UnaryKind
from tilefoundry.ir.shard import (
    Broadcast,
    ComposedLayout,
    Dynamic,
    Layout,
    LayoutBase,
    Mesh,
    MeshAxis,
    Partial,
    ShardLayout,
    Split,
    Topology,
)
from tilefoundry.ir.specialize import (
    dim_vars_reached,
    is_concrete,
    residual_dims,
    specialize_concretely,
    specialize_function,
    specialize_module,
)
from tilefoundry.ir.structure import first_difference, structurally_equal
from tilefoundry.ir.types import CallableType, DType, StorageKind, TensorType, TupleType, Type, UnitType
from tilefoundry.ir.variants import variant_for
from tilefoundry.ir.verify import verify_function, verify_module

__all__ = [
    "BinaryKind",
    "Broadcast",
    "Call",
    "CallableType",
    "ComposedLayout",
    "Constant",
    "DType",
    "DimVar",
    "DimVarRangePat",
    "Dynamic",
    "Expr",
    "Function",
    "GridRegionExpr",
    "Layout",
    "LayoutBase",
    "Mesh",
    "MeshAxis",
    "Module",
    "Op",
    "Partial",
    "ReduceKind",
    "ShardLayout",
    "Split",
    "StorageKind",
    "TensorType",
    "Topology",
    "Tuple",
    "TupleType",
    "Type",
    "UnaryKind",
    "UnitType",
    "Var",
    "bound_dims_of",
    "ceildiv",
    "dim_vars_reached",
    "evaluate_dim",
    "first_difference",
    "function_selectors",
    "is_concrete",
    "normalize_dim",
    "origin_of",
    "register_alias",
    "register_op",
    "residual_dims",
    "select",
    "specialize_concretely",
    "specialize_function",
    "specialize_module",
    "structurally_equal",
    "variant_for",
    "verify_function",
    "verify_module",
]
