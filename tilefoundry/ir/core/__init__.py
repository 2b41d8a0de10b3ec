"""Expressions, ops, functions, modules."""

from tilefoundry.ir.core.execution import Executor, executor, set_executor_loader
from tilefoundry.ir.core.expr import Call, CallTarget, Constant, Expr, Tuple, Var, structurally_equal, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import (
    BindingMetadata,
    ExecutionDomainMetadata,
    IRMetadata,
    Metadata,
    SourceSpanMetadata,
    binding_name,
    diagnostic_location,
    find_metadata,
    get_metadata,
    span_of,
)
from tilefoundry.ir.core.module import Definition, Module
from tilefoundry.ir.core.op import (
    MISSING,
    Op,
    OpSchema,
    ParamDef,
    TypeContext,
    op_names,
    register_alias,
    register_op,
    schemas_named,
)
from tilefoundry.ir.core.pattern import AndPat, DimVarRangePat, Pattern, ScalarPat, TensorPat
from tilefoundry.ir.core.type import CallableType, TupleType, Type, UnitType

__all__ = [
    "MISSING",
    "AndPat",
    "BindingMetadata",
    "Call",
    "CallTarget",
    "CallableType",
    "Constant",
    "Definition",
    "DimVarRangePat",
    "ExecutionDomainMetadata",
    "Executor",
    "Expr",
    "Function",
    "IRMetadata",
    "Metadata",
    "Module",
    "Op",
    "OpSchema",
    "ParamDef",
    "Pattern",
    "ScalarPat",
    "SourceSpanMetadata",
    "TensorPat",
    "Tuple",
    "TupleType",
    "Type",
    "TypeContext",
    "UnitType",
    "Var",
    "binding_name",
    "diagnostic_location",
    "executor",
    "find_metadata",
    "get_metadata",
    "op_names",
    "register_alias",
    "register_op",
    "schemas_named",
    "set_executor_loader",
    "span_of",
    "structurally_equal",
    "type_of",
]
